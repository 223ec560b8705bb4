"""Other weights over the model's own states: by hand on two words, and the model's own answers with its own weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from audited import model_by_hand, one_decides, the_cause

from regard.audit.adversarial_weights import adversary_facts, corner, farthest, searched
from regard.audit.given_weights import distances, divergences, given_weights, probabilities
from regard.audit.permutation import permutation_facts, permuted
from regard.config import Config
from regard.data.reviews import reviews
from regard.explain.reading import read
from regard.faithfulness.distributions import jensen_shannon
from regard.faithfulness.random_choice import random_rankings
from regard.models.trained import Trained
from regard.training.fit import Parts, fit

SMALL = {"embedding": 8, "hidden": 8, "query": 8, "epochs": 1, "min_count": 1, "device": "cpu", "task": "multiclass"}
TEXTS = [example.text for example in reviews(12, seed=3)]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def two_words() -> Trained:
    """Weights 3/4 and 1/4; "good" contributes 2, "film" −1: the logit is 1.25."""
    return model_by_hand({"good": math.log(3)}, {"good": (2.0,), "film": (-1.0,)})


def trained(**options: Any) -> Trained:
    return fit(Config().override({"members": 1, **SMALL, **options}), Parts(reviews(20)))


MODELS: dict[str, dict[str, Any]] = {
    "flat": {"engine": "sparse", "query": 200},
    "cnn": {"encoder": "cnn", "pooling": "attention"},
    "HAN": {"encoder": "cnn", "pooling": "attention", "levels": 2},
    "APLN": {"encoder": "cnn", "pooling": "apln"},
    "APLN of one length": {"encoder": "cnn", "pooling": "apln", "unit_length": True},
    "norm per text": {"encoder": "cnn", "pooling": "apln", "norm": "sample"},
    "bottleneck": {"encoder": "cnn", "pooling": "bottleneck", "rounds": 1},
}


@pytest.mark.parametrize("options", MODELS.values(), ids=list(MODELS))
def test_the_models_own_weights_give_its_answers(options: dict[str, Any]) -> None:
    model = trained(**options)
    answers = model.answers(TEXTS)
    for mixture in given_weights(model, read(model, TEXTS)):
        computed = probabilities(model.task, mixture.logits).detach().numpy()
        np.testing.assert_allclose(computed, answers[mixture.rows], atol=1e-5)
        assert mixture.weights.sum(1).tolist() == pytest.approx([1.0] * len(mixture.rows))
        several = mixture.answer(torch.stack([mixture.weights, mixture.weights.flip(0)]))
        assert several.shape == (2, *mixture.logits.shape)


@pytest.mark.parametrize("options", MODELS.values(), ids=list(MODELS))
def test_adversaries_stay_within_epsilon_for_every_model(options: dict[str, Any]) -> None:
    model = trained(**options)
    readings = read(model, TEXTS[:4])
    result = farthest(model, readings)
    known = ~np.isnan(result.divergence)
    assert known.all()
    assert (result.distance[known] <= 0.01 + 1e-9).all()
    assert ((result.divergence[known] >= 0) & (result.divergence[known] <= math.log(2) + 1e-12)).all()
    for weights in result.weights:
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1)


def test_permuted_weights_of_two_words_by_hand() -> None:
    model = two_words()
    # unchanged: σ(3/4 · 2 − 1/4) = σ(1.25); swapped: σ(1/4 · 2 − 3/4) = σ(−0.25); uniform: σ(0.5)
    turned, even = sigmoid(1.25) - sigmoid(-0.25), sigmoid(1.25) - sigmoid(0.5)
    result = permuted(model, read(model, ["good film", "good"]), draws=101)
    swapped = (random_rankings("good film", 2, 101)[:, 0] == 1).mean()
    assert result.moved[0] == pytest.approx(turned if swapped > 0.5 else 0.0, abs=1e-6), (
        "the median of swapped and unchanged ones"
    )
    few = [permuted(model, read(model, ["good film"]), seed, 1).moved[0] for seed in range(20)]
    assert {round(moved, 6) for moved in few} == {0.0, round(turned, 6)}
    assert result.largest[0] == pytest.approx(0.75)
    assert result.uneven[0] == pytest.approx(0.25)
    assert result.evened[0] == pytest.approx(even, abs=1e-6)
    assert np.isnan(result.moved[1]), "one word cannot be permuted"


def test_permutations_depend_only_on_seed_and_text() -> None:
    model = trained(encoder="cnn", pooling="attention", seed=1)
    one, other = permuted(model, read(model, TEXTS)), permuted(model, read(model, TEXTS[::-1]))
    np.testing.assert_allclose(one.moved, other.moved[::-1], atol=1e-6)
    np.testing.assert_array_equal(one.moved, permuted(model, read(model, TEXTS)).moved)
    assert not np.array_equal(one.moved, permuted(model, read(model, TEXTS), seed=1).moved)


def test_the_farthest_weights_of_two_words_by_hand() -> None:
    model = two_words()
    result = farthest(model, read(model, ["good film"]))
    # the logit is 3 α − 1, so that α may move until σ(3 α − 1) has moved by 0.01, to either side
    ends = [(1 + math.log(p / (1 - p))) / 3 for p in (sigmoid(1.25) - 0.01, sigmoid(1.25) + 0.01)]
    apart = [float(jensen_shannon(np.array([a, 1 - a]), np.array([0.75, 0.25]))) for a in ends]
    assert result.exact
    assert result.divergence[0] == pytest.approx(max(apart), rel=1e-4)
    assert result.distance[0] == pytest.approx(0.01, abs=1e-6)
    assert result.weights[0][0] == pytest.approx(ends[int(np.argmax(apart))], abs=1e-6)


def test_words_with_equal_contributions() -> None:
    """Three words with equal contributions: all weight on the one with the least keeps the answer."""
    model = model_by_hand({"a": 2.0, "b": 2.0}, dict.fromkeys("abc", (1.5,)))
    (weights,) = farthest(model, read(model, ["a b c"])).weights
    assert weights.tolist() == [0, 0, 1]


def test_no_weights_on_a_grid_are_farther_than_the_corner() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        weights, values = rng.dirichlet(np.ones(3)), rng.normal(size=3)
        low, high = weights @ values - 0.1, weights @ values + 0.1
        best = corner(weights, values, low, high)
        assert low - 1e-9 <= best @ values <= high + 1e-9
        sides = np.linspace(0, 1, 101)
        grid = np.array([(a, b, 1 - a - b) for a in sides for b in sides if a + b <= 1 + 1e-12]).clip(0)
        allowed = grid[(grid @ values >= low) & (grid @ values <= high)]
        divergence = jensen_shannon(best, weights)
        assert divergence >= jensen_shannon(allowed, np.broadcast_to(weights, allowed.shape)).max() - 1e-9


def test_the_search_comes_close_to_the_exact_solution() -> None:
    model, texts = the_cause(), [example.text for example in one_decides(8)]
    readings = read(model, texts)
    exact = farthest(model, readings)
    (mixture,) = given_weights(model, readings)
    weights = searched(model, mixture, [texts[row] for row in mixture.rows], 0, 0.01)
    moved = distances(probabilities(model.task, mixture.answer(weights)), probabilities(model.task, mixture.logits))
    assert (moved <= 0.01 + 1e-9).all()
    near = divergences(weights, mixture.weights).numpy()
    assert (near <= exact.divergence[mixture.rows] + 1e-9).all()
    assert near.mean() > 0.9 * exact.divergence.mean()


def test_searches_are_deterministic() -> None:
    model = trained(encoder="cnn", pooling="attention")
    one, other = (farthest(model, read(model, TEXTS[:3])) for _ in range(2))
    assert not one.exact, "five classes"
    np.testing.assert_array_equal(one.divergence, other.divergence)


def test_facts_have_no_nan() -> None:
    model = two_words()
    readings = read(model, ["good film", "good"])
    weights = adversary_facts(farthest(model, readings), 0)
    answers = permutation_facts(permuted(model, readings), 0)
    assert weights.divergence.n == answers.moved.n == 1
    assert weights.by_text.divergence[1] is None
    assert sum(group.n for group in answers.by_largest) == 1
