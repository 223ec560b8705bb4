"""Weights of texts and classes: scikit-learn's formula, files, and what they do to training with both engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from regard import TextClassifier, TextRegressor
from regard.config import Config
from regard.data.labels import Labels
from regard.errors import InputError
from regard.models.tasks import Regression, make_task
from regard.recorder import Silent
from regard.records import Example
from regard.training.fit import Parts, prepare
from regard.training.weighting import read_class_weights, text_weights

NAMES = ["a"] * 6 + ["b"] * 3 + ["c"]
LABELS = Labels.of([Example("text", name, row) for row, name in enumerate(NAMES, 1)])
TASK = make_task("multiclass", LABELS, "texts")
ENGINES: list[dict[str, Any]] = [
    {"members": 3, "epochs": 2},
    {"members": 1, "epochs": 2},
    {"encoder": "cnn", "epochs": 1, "hidden": 8, "embedding": 8},
]
TEXTS = [
    f"{word} {place} {number}" for number, word in enumerate(["good", "bad", "fine"] * 10) for place in ("one", "two")
]
CLASSES = (["yes", "no", "yes"] * 10 * 2)[: len(TEXTS)]


def weights_of(by_row: list[float] | None = None, class_weight: str | None = None) -> np.ndarray[Any, Any] | None:
    return text_weights(TASK, LABELS, None if by_row is None else np.array(by_row), class_weight, Silent())


def test_balanced_is_the_formula_of_scikit_learn() -> None:
    weights = weights_of(class_weight="balanced")
    assert weights is not None
    expected = compute_class_weight("balanced", classes=np.array(["a", "b", "c"]), y=np.array(NAMES))
    by_class = np.repeat(expected, [6, 3, 1])
    np.testing.assert_allclose(weights, by_class / by_class.mean(), rtol=1e-6)
    assert weights.dtype == np.float32
    assert weights[:6].sum() == pytest.approx(weights[9], rel=1e-6), "every class counts the same"


def test_weights_of_rows_and_classes_multiply() -> None:
    rows = [1.0, 2.0] * 5
    weights = weights_of(rows, '{"c": 4}')
    assert weights is not None
    expected = np.array(rows) * np.repeat([1, 1, 4], [6, 3, 1])
    np.testing.assert_allclose(weights, expected / expected.mean(), rtol=1e-6)


def test_balanced_counts_the_weights_of_rows() -> None:
    """As if a text with weight 3 were there three times."""
    weights = weights_of([3.0] * 6 + [1.0] * 4, "balanced")
    assert weights is not None
    assert weights[:6].sum() == pytest.approx(weights[6:9].sum(), rel=1e-6)
    assert weights[:6].sum() == pytest.approx(weights[9], rel=1e-6)


def test_equal_weights_are_none() -> None:
    assert weights_of([2.5] * 10) is None
    assert weights_of() is None
    assert weights_of(class_weight='{"a": 2, "b": 2, "c": 2}') is None


@pytest.mark.parametrize(
    ("name", "content"), [("w.toml", "spam = 5\nham = 1.5\n"), ("w.json", '{"spam": 5, "ham": 1.5}')]
)
def test_weights_from_a_file(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert read_class_weights(str(tmp_path / name))[1] == {"spam": 5.0, "ham": 1.5}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("spam = ", "w.toml: expected TOML .* or JSON"),
        ('{"spam": 5', "w.toml: expected TOML .* or JSON"),
        ("", "w.toml: expected a weight for at least one class, got none"),
        ("spam = 0", "w.toml: expected a number above 0 for the class 'spam', got 0"),
        ("spam = -1", "got -1"),
        ("spam = nan", "got nan"),
        ("spam = true", "got True"),
        ("spam = 1" + "0" * 400, "w.toml: expected a whole number of at most 19 digits"),
        ("spam = 0x1" + "0" * 5000, "w.toml: expected a whole number of at most 19 digits"),
        ("spam = [0x1" + "0" * 5000 + "]", "w.toml: expected a whole number of at most 19 digits"),
        ("spam = 1" + "0" * 5000, "expected TOML .* or JSON"),
        ('{"spam": 1' + "0" * 5000 + "}", "expected TOML .* or JSON"),
        ("[spam]\nx = 1", "expected a number above 0 for the class 'spam'"),
    ],
)
def test_bad_files(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "w.toml").write_text(content)
    with pytest.raises(InputError, match=message):
        read_class_weights(str(tmp_path / "w.toml"))


@pytest.mark.parametrize("by_row", [1e308, 5e-324])
def test_weights_whose_mean_is_not_a_positive_number(by_row: float) -> None:
    by_class = json.dumps(dict.fromkeys("abc", by_row))
    for rows, classes in (([1e308] * 10, None), ([1e308] * 10, "balanced"), ([by_row] * 10, by_class)):
        with pytest.raises(
            InputError, match="weights of texts: expected numbers whose mean is above 0 and finite, got"
        ):
            weights_of(rows, classes)


def test_bad_options(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"expected 'balanced' or a TOML or JSON file, got .* .embedded null byte"):
        read_class_weights("a\0b")
    with pytest.raises(InputError, match=r"expected 'balanced' or a TOML or JSON file, got 'balance' .No such file"):
        weights_of(class_weight="balance")
    with pytest.raises(InputError, match="expected classes among 'a', 'b', 'c', got 'd'"):
        weights_of(class_weight='{"d": 2}')
    with pytest.raises(InputError, match=r"expected classes, .* got task = 'regression'"):
        text_weights(Regression(0.0, 1.0), LABELS, None, "balanced", Silent())
    with pytest.raises(InputError, match="class_weight = 'balanced' needs classes"):
        Config().override({"task": "regression", "class_weight": "balanced"})


def learned(options: dict[str, Any], texts: list[str], labels: list[str], weights: Any = None) -> TextClassifier:
    return TextClassifier(**options).fit(texts, labels, sample_weight=weights)


def same(one: TextClassifier, other: TextClassifier) -> bool:
    return bool((one.predict_proba(TEXTS) == other.predict_proba(TEXTS)).all())


@pytest.mark.parametrize("options", ENGINES)
def test_weight_zero_is_an_absent_text_and_equal_weights_change_nothing(options: dict[str, Any]) -> None:
    plain = learned(options, TEXTS, CLASSES)
    assert same(plain, learned(options, TEXTS, CLASSES, np.full(len(TEXTS), 2.0)))
    weights = np.ones(len(TEXTS))
    weights[[3, 10, 11]] = 0
    kept = np.flatnonzero(weights).tolist()
    absent = learned(options, [TEXTS[row] for row in kept], [CLASSES[row] for row in kept])
    assert same(absent, learned(options, TEXTS, CLASSES, weights))
    assert not same(plain, absent)


@pytest.mark.parametrize("options", ENGINES)
def test_a_heavier_class_is_predicted_with_higher_probability(options: dict[str, Any]) -> None:
    plain, heavier = learned(options, TEXTS, CLASSES), learned({**options, "class_weight": {"no": 20}}, TEXTS, CLASSES)
    column = heavier.classes_.tolist().index("no")
    assert heavier.predict_proba(TEXTS)[:, column].mean() > plain.predict_proba(TEXTS)[:, column].mean()
    by_text = learned(options, TEXTS, CLASSES, [20.0 if name == "no" else 1.0 for name in CLASSES])
    assert same(heavier, by_text), "the weight of a class is the weight of each of its texts"


def test_a_regression_takes_weights_of_texts() -> None:
    numbers = [1.0 if name == "no" else 5.0 for name in CLASSES]
    weights = [10.0 if name == "no" else 1.0 for name in CLASSES]
    plain = TextRegressor(epochs=2).fit(TEXTS, numbers).predict(["neither"])
    assert TextRegressor(epochs=2).fit(TEXTS, numbers, sample_weight=weights).predict(["neither"])[0] < plain[0]
    with pytest.raises(InputError, match="class_weight = 'balanced' needs classes"):
        TextRegressor(class_weight="balanced").fit(TEXTS, numbers)


@pytest.mark.parametrize("options", ENGINES)
def test_the_identity_of_a_run_depends_on_weights(options: dict[str, Any]) -> None:
    def identity(weight: float, **more: Any) -> str:
        examples = [
            Example(text, label, row, weight=weight if row == 0 else 1.0)
            for row, (text, label) in enumerate(zip(TEXTS, CLASSES, strict=True))
        ]
        return prepare(Config().override({**options, **more}), Parts(examples), Silent()).identity

    plain = identity(1.0)
    others = [
        identity(2.0),
        identity(3.0),
        identity(1.0, class_weight="balanced"),
        identity(1.0, class_weight='{"no": 3}'),
    ]
    assert len({plain, *others}) == 5
    assert identity(2.0) == others[0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "sample_weight: expected one number per text, 60, got 2"),
        ([-1.0] + [1.0] * 59, "sample_weight 0: expected a number of at least 0, got -1"),
        ([np.nan] * 60, "sample_weight 0: expected a number of at least 0, got nan"),
        (["x"] * 60, "values that are not numbers"),
        ([1.0] + [0.0] * 59, "at least two texts whose weight is above 0, got 1"),
    ],
)
def test_bad_sample_weights(weights: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TextClassifier().fit(TEXTS, CLASSES, sample_weight=weights)
