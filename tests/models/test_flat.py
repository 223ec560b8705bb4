"""Predictions by tables equal those of the Classifier with the same weights, after training and after loading."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.config import Config, Model
from regard.data.collate import collate
from regard.data.reviews import reviews
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.models import flat
from regard.models.build import build
from regard.models.flat import EMBEDDING, HEAD_BIAS, State, fresh, is_flat, shapes, tables
from regard.models.folder import load
from regard.models.saving import save
from regard.models.tasks import Binary
from regard.models.trained import Trained, answers
from regard.records import Example
from regard.training.fit import Parts, fit

UNITS, OUTPUTS, SCALE = 40, 3, 2.5
FORMS = [
    (encoder, attention, bias)
    for encoder in ("embedding", "affine")
    for attention in ("dot", "additive")
    for bias in (True, False)
]
forms = pytest.mark.parametrize(("encoder", "attention", "head_bias"), FORMS)
TEXTS = ["Not good at all.", "A wonderful book, and good value!", "zzz qqq", "好", "", "good " * 300]


def make(encoder: str, attention: str, head_bias: bool) -> tuple[Model, State]:
    model = Model(
        encoder=encoder, attention=attention, embedding=6, hidden=5, query=4, scale=SCALE, head_bias=head_bias
    )  # type: ignore[arg-type]
    return model, {name: 3 * value for name, value in fresh(model, UNITS, OUTPUTS, 7).items()}


def learned(**options: Any) -> Trained:
    return fit(
        Config().override({"epochs": 2, "hidden": 8, "query": 8, "device": "cpu", "members": 1, **options}),
        Parts(reviews(80)),
    )


@forms
def test_tables_contain_the_scores_and_polarities_of_the_classifier(
    encoder: str, attention: str, head_bias: bool
) -> None:
    """Every unit as a separate text: its score is that of the trace, its polarity the head applied to its state."""
    model, state = make(encoder, attention, head_bias)
    lookup, classifier = tables(state, SCALE), build(model, UNITS, OUTPUTS).eval()
    classifier.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()})
    with torch.no_grad():
        output = classifier(collate([Indexed(np.array([unit], dtype=np.int32)) for unit in range(UNITS)], 1))
    np.testing.assert_allclose(lookup.scores[:, 0], output.traces[0].pooled.scores[:, 0].numpy(), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(lookup.polarity[:, 0] + lookup.bias, output.logits.numpy(), rtol=1e-4, atol=1e-6)
    assert (lookup.bias == state[HEAD_BIAS]).all() if head_bias else (lookup.bias == 0).all()
    assert lookup.polarity.dtype == lookup.scores.dtype == np.float32


def test_tables_are_computed_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    _, state = make("affine", "additive", True)
    whole = tables(state, SCALE)
    monkeypatch.setattr(flat, "CHUNK", 7)
    for one, other in zip(tables(state, SCALE), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


@forms
def test_shapes_equal_those_of_fresh_weights(encoder: str, attention: str, head_bias: bool) -> None:
    model, state = make(encoder, attention, head_bias)
    assert shapes(model, UNITS, OUTPUTS) == {name: value.shape for name, value in state.items()}


def test_fresh_weights_depend_on_the_seed_and_use_vectors() -> None:
    """NaN marks units without a vector; units beyond the vectors have none either."""
    model = Model(embedding=3)
    same, again, other = (fresh(model, 5, 1, seed) for seed in (1, 1, 2))
    assert all((same[name] == again[name]).all() for name in same)
    assert any((same[name] != other[name]).any() for name in same)
    vectors = np.array([[np.nan] * 2, [np.nan] * 2, [5, 6]], dtype=np.float32)
    table = fresh(model, 5, 1, 1, vectors)[EMBEDDING]
    assert table.shape == (5, 2), "the vectors determine the width"
    assert table[2].tolist() == [5, 6]
    assert table[0].tolist() == [0, 0]
    assert (np.abs(table[[1, 3, 4]]) <= 0.1).all()
    assert np.isfinite(table).all()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, True),
        ({"encoder": "affine"}, True),
        ({"encoder": "cnn"}, False),
        ({"pooling": "apln"}, False),
        ({"levels": 2}, False),
    ],
)
def test_which_models_are_flat(options: dict[str, Any], expected: bool) -> None:
    assert is_flat(Model(**options)) == expected


# Trained models


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"task": "regression"},
        {"encoder": "affine", "attention": "additive"},
        {"pairs": False},
        {"head_bias": False, "lowercase": False, "max_words": 20},
        {"engine": "torch"},
        {"engine": "torch", "attention": "dot", "encoder": "affine"},
    ],
    ids=str,
)
def test_predictions_by_tables_equal_those_of_the_classifier(tmp_path: Path, options: dict[str, Any]) -> None:
    trained = learned(**options)
    assert trained.is_flat
    predictions = trained.answers(TEXTS)
    indexed = [trained.tokenizer.encode(text) for text in TEXTS]
    np.testing.assert_allclose(answers(trained.model, trained.task, indexed), predictions, rtol=1e-5, atol=1e-5)
    save(trained, tmp_path / "run")
    again = load(tmp_path / "run")
    np.testing.assert_array_equal(again.answers(TEXTS), predictions)
    assert again.config == trained.config
    assert all((value == trained.weights[name]).all() for name, value in again.weights.items())
    np.testing.assert_allclose(answers(again.model, again.task, indexed), predictions, rtol=1e-5, atol=1e-5)


def test_chunks_of_texts_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    from regard.models import trained as module

    model, texts = learned(), [example.text for example in reviews(50, seed=3)]
    whole = model.answers(texts)
    monkeypatch.setattr(module, "CHUNK", 7)
    parts = [model.task.answers(logits) for _, logits, _ in model.attended(texts, weighed=False)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    monkeypatch.setattr(module, "PIECE", 7)
    np.testing.assert_allclose(model.answers(texts), whole, atol=1e-5)  # as many texts are answered
    np.testing.assert_allclose([model.answers([text])[0] for text in texts], whole, rtol=1e-6)


def test_no_texts_give_no_predictions() -> None:
    assert learned().answers([]).shape == (0, 5)
    assert learned(task="regression").answers([]).shape == (0, 1)


def test_a_model_with_a_vectors_file_is_saved_and_loaded(tmp_path: Path) -> None:
    (tmp_path / "vectors.txt").write_text("good 1 2 3\nbad -1 -2 -3\n")
    examples = [Example("good film", "1"), Example("bad film", "0")] * 10
    trained = fit(Config().override({"vectors": str(tmp_path / "vectors.txt")}), Parts(examples))
    save(trained, tmp_path / "run")
    np.testing.assert_array_equal(load(tmp_path / "run").answers(["good", "bad"]), trained.answers(["good", "bad"]))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (EMBEDDING, np.zeros((3, 32), np.float32), r"embedding.weight: expected the shape \(\d+, 32\), got \(3, 32\)"),
        ("head.weight", np.zeros((5, 31), np.float32), r"head.weight: expected the shape \(5, 32\), got \(5, 31\)"),
        ("head.bias", None, r"head.bias: expected the shape \(5,\), got None"),
        ("more", np.zeros(3, np.float32), r"more: expected the shape None, got \(3,\)"),
    ],
)
def test_weights_of_another_shape_are_rejected(tmp_path: Path, name: str, value: Any, message: str) -> None:
    trained = learned(embedding=32)
    weights = {key: each for key, each in {**trained.weights, name: value}.items() if each is not None}
    save(Trained(trained.config, trained.tokenizer, trained.task, trained.metrics, weights=weights), tmp_path / "run")
    with pytest.raises(InputError, match=message):
        load(tmp_path / "run")


def test_weights_and_model_are_built_from_each_other() -> None:
    model, state = make("affine", "additive", True)
    words = fit(Config().override({"epochs": 1}), Parts([Example("a b", "1"), Example("c d", "0")])).tokenizer
    config = Config(model=model)
    state = {name: 3 * value for name, value in fresh(model, len(words), 1, 7).items()}
    one = Trained(config, words, Binary(("0", "1")), weights=state)
    other = Trained(config, words, Binary(("0", "1")), model=one.model)
    assert {name: value.tolist() for name, value in other.weights.items()} == {k: v.tolist() for k, v in state.items()}
    np.testing.assert_array_equal(one.answers(["a b c"]), other.answers(["a b c"]))


def test_scalar_weights_stay_scalars() -> None:
    """The norm p of apln has no axis, also when saved."""
    trained = learned(pooling="apln", engine="torch")
    assert trained.weights["levels.0.pooling.log_norm"].shape == ()


@pytest.mark.parametrize("bound", [0.1, 1.0, 0.003])
def test_both_engines_draw_embeddings_from_the_given_range(bound: float) -> None:
    model = Model(embedding=50, embedding_range=bound)
    torch.manual_seed(0)
    for drawn in (fresh(model, 200, 1, 0)[EMBEDDING], build(model, 200, 1).embedding.weight.detach().numpy()):
        assert (drawn[0] == 0).all()
        assert 0.99 * bound < np.abs(drawn).max() <= bound * (1 + 1e-6)
        assert drawn[1:].std() == pytest.approx(bound / 3**0.5, rel=0.02)


def test_words_with_a_vector_keep_it_for_any_range() -> None:
    vectors = np.full((3, 4), np.nan, dtype=np.float32)
    vectors[2] = 7
    model = Model(embedding_range=0.5)
    for drawn in (
        fresh(model, 3, 1, 0, vectors)[EMBEDDING],
        build(model, 3, 1, vectors=torch.from_numpy(vectors)).embedding.weight.detach().numpy(),
    ):
        assert (drawn[2] == 7).all()
        assert 0 < np.abs(drawn[1]).max() <= 0.5
