"""Explainers against numbers worked out by hand, and against what each promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from drawn_models import TEXTS, VARIANTS, make

from regard.config import Config, Model
from regard.data.reviews import reviews
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.explain.attribute import attribute
from regard.explain.reading import read, to_words
from regard.explain.surrogate import draw, nearness, regression
from regard.explain.word_scores import Attributed
from regard.faithfulness.plausibility import average_precision
from regard.models.flat import EMBEDDING, HEAD, HEAD_BIAS, QUERY
from regard.models.tasks import Binary
from regard.models.trained import Trained
from regard.training.fit import Parts, fit

VALUES = {"good": 2.0, "bad": -3.0, "film": 0.5}  # what each word says; unknown ones say nothing


def linear(bias: float = 0.25) -> Trained:
    """f = the mean of what the words say + a bias: a vector of one number, averaged, times 1."""
    config = Config(model=Model(embedding=1, pooling="average"))
    table = np.array([[0], [0], *([value] for value in VALUES.values())], dtype=np.float32)
    weights = {EMBEDDING: table, HEAD: np.ones((1, 1), np.float32), HEAD_BIAS: np.array([bias], np.float32)}
    return Trained(config, Tokenizer(Vocabulary(tuple(VALUES))), Binary(("no", "yes")), weights=weights)


def one(trained: Trained, text: str, method: str, **given: object) -> Attributed:
    (found,) = attribute(trained, [text], method, **given)  # type: ignore[arg-type]
    return found


def test_of_a_linear_model_gradients_times_inputs_and_their_integral_are_what_words_say() -> None:
    """ "good bad film": each says its value / 3, which is the whole of f but for the bias."""
    for method in ("gradient_times_input", "integrated_gradients"):
        found = one(linear(), "good bad film", method, targets="yes")
        assert found.scores == pytest.approx([2 / 3, -3 / 3, 0.5 / 3])
    assert found.facts["value"] == pytest.approx((2 - 3 + 0.5) / 3 + 0.25)
    assert found.facts["start"] == pytest.approx(0.25)
    assert found.facts["convergence"] == pytest.approx(0, abs=1e-6)
    assert one(linear(), "good bad film", "gradient", targets="yes").scores == pytest.approx([1 / 3] * 3)


def test_of_a_linear_model_leaving_a_word_out_costs_its_distance_from_the_mean() -> None:
    """f − f without i = (v_i − mean) / (n − 1): mean −0.5 / 3, n − 1 = 2. The last word leaves the bias alone."""
    mean = -0.5 / 3
    found = one(linear(), "good bad film", "leave_one_out", targets="yes")
    assert found.scores == pytest.approx([(2 - mean) / 2, (-3 - mean) / 2, (0.5 - mean) / 2])
    whole, left = 1 / (1 + math.exp(-(mean + 0.25))), 1 / (1 + math.exp(-(-2.5 / 2 + 0.25)))
    assert found.facts["probability"][0] == pytest.approx(whole - left)
    assert one(linear(), "good", "leave_one_out", targets="yes").scores == pytest.approx([2.0])


def test_where_the_truth_is_known_it_is_found_and_chance_finds_what_chance_does() -> None:
    """A text of 40 words of which 8 say yes: every faithful method puts these first."""
    words = np.random.default_rng(0).permutation(["good"] * 8 + ["film"] * 16 + ["bad"] * 16)
    marked = words == "good"
    trained = linear()
    for method in ("gradient_times_input", "integrated_gradients", "leave_one_out"):
        scores = one(trained, " ".join(words), method, targets="yes").scores
        assert average_precision(scores, marked) == pytest.approx(1.0)
    chance = [
        average_precision(one(trained, " ".join(words), "random", seed=seed).scores, marked) for seed in range(200)
    ]
    harmonic = sum(1 / place for place in range(1, 41))
    expected = (harmonic + (8 - 1) / (40 - 1) * (40 - harmonic)) / 40  # of a random order: above the base rate, 8 / 40
    assert np.mean(chance) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_integrated_gradients_sum_to_the_difference_that_they_explain(variant: str, task: str) -> None:
    """To within the error that comes with them, which more steps make small (where the model is smooth)."""
    trained = make(variant, task)
    for few, many in zip(attribute(trained, TEXTS, steps=4), attribute(trained, TEXTS, steps=300), strict=True):
        for found in (few, many):
            facts = found.facts
            assert found.scores.sum() - facts["convergence"] == pytest.approx(facts["value"] - facts["start"], abs=1e-9)
            if task == "regression":
                assert facts["value"] == pytest.approx(found.prediction.value)
        assert abs(many.facts["convergence"]) < 5e-3
    if variant == "bilstm":
        assert max(abs(found.facts["convergence"]) for found in attribute(trained, TEXTS, steps=50)) < 1e-6


@pytest.mark.parametrize("variant", ["embedding", "units", "cnn", "bilstm", "apln"])
def test_leaving_a_word_out_equals_never_having_written_it(variant: str) -> None:
    trained = make(variant, "binary")
    text = "Four is good. Three is bad, not good"
    words = ["Four", "is", "good", ".", "Three", "is", "bad", ",", "not", "good"]
    versions = [" ".join([*words[:place], *words[place + 1 :]]) for place in range(len(words))]
    found = one(trained, text, "leave_one_out")
    before, after = (attribute(trained, texts, "random", 1) for texts in ([text], versions))
    chances = [item.prediction.probabilities["yes"] for item in (*before, *after)]
    logits = np.log(chances) - np.log1p(-np.array(chances))
    sign = 1 if found.target == 1 else -1
    np.testing.assert_allclose(found.scores, sign * (logits[0] - logits[1:]), atol=1e-9)
    np.testing.assert_allclose(found.facts["probability"], sign * (chances[0] - np.array(chances[1:])), atol=1e-12)


@pytest.mark.parametrize("variant", ["han", "han-apln", "three"])
def test_leaving_out_words_sentences_and_parts_of_a_text_of_levels(variant: str) -> None:
    """What is left is read as if the rest had never been there."""
    trained = make(variant, "binary")
    text = "One is good. Bad.\n\nThree is not"
    cut = {"words": ["is good. Bad.\n\nThree is not", "One good. Bad.\n\nThree is not"]}
    cut["sentences"] = ["Bad.\n\nThree is not", "One is good.\n\nThree is not", "One is good. Bad."]
    cut["parts"] = ["Three is not", "One is good. Bad."] if variant == "three" else []
    found = one(trained, text, "leave_one_out", targets=1)

    def logit(text: str) -> float:
        chance = one(trained, text, "random").prediction.probabilities["yes"]
        return math.log(chance) - math.log1p(-chance)

    got = {"words": found.scores[:2], "sentences": found.sentences, "parts": found.parts}
    for name, versions in cut.items():
        own = [float(unit) if name == "words" else unit.weight for unit in got[name]]  # type: ignore[union-attr]
        assert own == pytest.approx([logit(text) - logit(version) for version in versions], abs=1e-9)
    units = 9 + 3 + (2 if variant == "three" else 0)
    assert found.cost["forward"] == units + 1  # and the whole text


def test_a_pair_is_shared_half_and_half_with_its_sign() -> None:
    """not 2, good 3; movi… 4; (not, good) 5, (edge, not) 6. All weigh the same, and say 1, 2, 4, 8, 16."""
    words = Tokenizer(Vocabulary(("not", "good")), letters=4, beginnings=("movi",), pairs=np.array([[2, 3], [0, 2]]))
    table = np.array([[0], [0], [1], [2], [4], [8], [16]], dtype=np.float32)
    weights = {EMBEDDING: table, QUERY: np.zeros(1, np.float32), HEAD: -np.ones((1, 1), np.float32)}
    config = Config(model=Model(embedding=1, attention="dot", scale=1.0, head_bias=False))
    trained = Trained(config, words, Binary(("no", "yes")), weights=weights)
    for method in ("gradient_times_input", "integrated_gradients"):
        found = one(trained, "not good", method, targets="yes")
        assert found.scores == pytest.approx([-(1 + 8 / 2 + 16) / 4, -(2 + 8 / 2) / 4])
        found = one(trained, "odd movies good", method, targets="yes")
        assert found.scores == pytest.approx([0, -4 / 2, -2 / 2])
    assert one(trained, "not good", "attention").scores == pytest.approx([(1 + 1 / 2 + 1) / 4, (1 + 1 / 2) / 4])
    assert one(trained, "not good", "weighted_norm").scores == pytest.approx([21 / 4, 6 / 4])
    # without "not": good alone, which says −2; without "good": not and (edge, not)
    whole = -27 / 4
    assert one(trained, "not good", "leave_one_out", targets="yes").scores == pytest.approx(
        [whole + 2, whole + (1 + 16) / 2]
    )


def test_units_go_to_their_words_in_equal_parts() -> None:
    """Three units over four words: the first two words, the third, and the last three."""
    (reading,) = read(linear(), ["a b c d"])
    covering = reading._replace(first=np.array([0, 2, 1]), last=np.array([1, 2, 3]))
    assert to_words(covering, np.array([1.0, 10.0, -3.0])).tolist() == [0.5, 0.5 - 1, 10 - 1, -1]
    assert to_words(covering._replace(first=np.zeros(0, int), last=np.zeros(0, int)), np.zeros(0)).tolist() == [0] * 4


def test_weights_multiply_down_the_levels_and_a_norm_sharpens_them() -> None:
    """Two sentences with known scores: α = softmax, the drawn weight softmax(p a), p = 3 at both levels."""
    trained = make("han-apln")
    found, drawn, sized = (one(trained, TEXTS[0], name) for name in ("attention", "attention_norm", "weighted_norm"))
    (reading,) = read(trained, [TEXTS[0]])
    from regard.data.collate import collate

    batch = collate([reading.indexed], 2)
    with torch.no_grad():
        low, top = trained.model(batch).traces
    alphas, sharp = low.pooled.scores.exp() * batch.mask, (3 * low.pooled.scores).exp() * batch.mask
    above, above_sharp = top.pooled.scores.exp(), (3 * top.pooled.scores).exp()
    alphas, sharp = alphas / alphas.sum(-1, keepdim=True), sharp / sharp.sum(-1, keepdim=True)
    above, above_sharp = above / above.sum(-1, keepdim=True), above_sharp / above_sharp.sum(-1, keepdim=True)
    lengths = low.states.norm(dim=-1) * top.states.norm(dim=-1).unsqueeze(-1)
    for item, expected in (
        (found, above.unsqueeze(-1) * alphas),
        (drawn, above_sharp.unsqueeze(-1) * sharp),
        (sized, above.unsqueeze(-1) * alphas * lengths),
    ):
        np.testing.assert_allclose(item.scores, expected[batch.mask].numpy(), atol=1e-12)
    assert [unit.weight for unit in found.sentences] == pytest.approx(above[0].tolist())
    assert [unit.weight for unit in drawn.sentences] == pytest.approx(above_sharp[0].tolist())
    assert found.scores.sum() == pytest.approx(1)


def test_sentences_have_the_sums_of_their_words_where_scores_add_up() -> None:
    trained = make("three")
    for method in ("gradient_times_input", "integrated_gradients", "gradient", "surrogate", "random"):
        for found in attribute(trained, TEXTS, method, **({"samples": 30} if method == "surrogate" else {})):
            for units in (found.sentences, found.parts):
                for unit in units:
                    inside = [unit.start <= start < unit.end for start, _ in found.spans]
                    assert found.scores[inside].sum() == pytest.approx(unit.weight, abs=1e-9)


def test_a_surrogate_finds_the_weights_of_what_is_linear() -> None:
    chance = np.random.default_rng(1)
    kept, weights = chance.random((200, 12)) < 0.6, chance.normal(size=12)
    found = regression(kept, kept @ weights + 0.7, ridge=1e-9)
    np.testing.assert_allclose(found.coefficients, weights, atol=1e-8)
    assert found.r2 == pytest.approx(1)
    shrunk = regression(kept, kept @ weights + 0.7, ridge=1.0)
    assert np.corrcoef(shrunk.coefficients, weights)[0, 1] > 0.999
    assert shrunk.r2 < 1


def test_a_surrogate_of_more_words_than_versions_is_the_same_from_either_side() -> None:
    chance = np.random.default_rng(2)
    kept, values = chance.random((9, 10)) < 0.5, chance.normal(size=9)
    wide = regression(kept, values, 0.5).coefficients
    twice = regression(np.repeat(kept, 2, 0), np.repeat(values, 2), 1.0).coefficients  # now more versions than words
    np.testing.assert_allclose(wide, twice, atol=1e-9)
    assert regression(kept, np.ones(9), 1.0).r2 == 1.0


def test_what_the_surrogate_draws_and_how_near_it_is() -> None:
    """The whole text first; then from one word to all gone, each number as likely; near by the share of words kept."""
    (reading,) = read(linear(), ["good bad film good"])
    drawn = draw(reading, 4001, seed=3)
    assert drawn[0].all()
    gone = np.bincount((~drawn[1:]).sum(1), minlength=5)
    assert gone[0] == 0
    assert gone[1:] == pytest.approx([1000] * 4, abs=100)
    assert (~drawn[1:]).mean(0) == pytest.approx([0.625] * 4, abs=0.03)
    half = 1 - math.sqrt(0.5)
    rows = np.array([[1, 1, 1, 1], [1, 0, 1, 0], [0, 0, 0, 0]], dtype=bool)
    assert nearness(rows) == pytest.approx([1, math.sqrt(math.exp(-((half / 0.25) ** 2))), math.sqrt(math.exp(-16))])


def test_the_surrogate_of_a_seed_is_one_and_says_how_well_it_fits() -> None:
    trained = make("cnn")
    one_seed, again, other = (attribute(trained, TEXTS, "surrogate", samples=50, seed=seed) for seed in (0, 0, 1))
    for a, b in zip(one_seed, again, strict=True):
        np.testing.assert_array_equal(a.scores, b.scores)
    assert any((a.scores != b.scores).any() for a, b in zip(one_seed, other, strict=True))
    for item in one_seed:
        assert 0 <= item.facts["r2"] <= 1
        assert item.facts["samples"] == item.cost["forward"] == (50 if item.spans else 1)
    likely = attribute(trained, TEXTS[:1], "surrogate", samples=50, of="probability")[0]
    assert np.abs(likely.scores).max() < 1


def test_the_surrogate_orders_the_words_of_a_linear_model() -> None:
    found = one(linear(), "good bad film good bad", "surrogate", targets="yes", samples=2000)
    assert found.scores[0] > found.scores[2] > found.scores[1]
    assert found.scores[[0, 1]] == pytest.approx(found.scores[[3, 4]], abs=0.1)


def test_chance_is_a_texts_own() -> None:
    trained = linear()
    first, second, third = attribute(trained, ["good bad", "bad good", "good bad"], "random", seed=5)
    np.testing.assert_array_equal(first.scores, third.scores)
    assert (first.scores != second.scores).any()
    assert (one(trained, "good bad", "random", seed=6).scores != first.scores).all()


def test_tfidf_by_hand() -> None:
    """Of two texts "good" is in both, "bad" in one, where it stands twice."""
    found = attribute(linear(), ["good Bad bad", "good"], "tfidf")
    rare, common = math.log(3 / 2) + 1, math.log(3 / 3) + 1
    assert found[0].scores == pytest.approx([common, 2 * rare, 2 * rare])
    assert found[1].scores == pytest.approx([common])
    (among,) = attribute(linear(), ["good bad"], "tfidf", background=["bad", "bad film", "bad"])
    assert among.scores == pytest.approx([math.log(4 / 1) + 1, math.log(4 / 4) + 1])


def test_a_trained_models_evidence_is_found_better_than_by_chance() -> None:
    """On the built-in reviews it is known which words decide."""
    trained = fit(Config().override({"device": "cpu"}), Parts(reviews(300)))
    examples = [example for example in reviews(40, seed=9) if example.evidence]
    marks = []
    for method in ("gradient_times_input", "leave_one_out", "random"):
        own = []
        for example, found in zip(
            examples, attribute(trained, [example.text for example in examples], method), strict=True
        ):
            marked = np.array([any(a < end and start < b for a, b in example.evidence) for start, end in found.spans])
            own.append(average_precision(found.scores, marked))
        marks.append(np.mean(own))
    assert min(marks[:2]) > marks[2] + 0.2
