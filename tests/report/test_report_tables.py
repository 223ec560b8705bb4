"""The terminal table of an evaluation's metrics."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from regard.models.tasks import Multiclass
from regard.report.text.numbers import figures, written
from regard.report.text.tables import metrics_table
from regard.training.metrics import measure

METRICS: dict[str, Any] = {
    "task": "multiclass",
    "n": 1500,
    "accuracy": 0.91,
    "accuracy_interval": [0.88, 0.93],
    "macro_f": 0.9,
    "log_loss": 0.3,
    "per_class": {"pos": {"precision": 0.8, "recall": 0.7, "f": 0.75, "n": 9}, "[bold]": {"f": None}},
    "confusion": {"labels": ["pos", "[bold]"], "counts": [[7, 2], [1, 5]]},
}


def printed(metrics: dict[str, Any], width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(metrics_table(metrics))
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"[ ─]+", " ", console.file.getvalue())


def test_numbers_carry_their_intervals() -> None:
    out = printed(METRICS)
    assert "texts 1,500" in out
    assert "accuracy 0.910 (0.880 to 0.930)" in out
    assert "macro F1 0.900" in out
    assert "interval" not in out


def test_classes_and_confusions_are_shown_and_names_are_escaped() -> None:
    out = printed(METRICS)
    assert "pos 0.800 0.700 0.750 9" in out
    assert "[bold] – – – –" in out
    assert "pos 7 2" in out
    assert "[bold] 1 5" in out


def test_classes_without_a_text_are_named_and_are_not_the_weakest() -> None:
    scores = {"precision": 1.0, "recall": 1.0, "f": 1.0}
    common = {f"common {k}": {**scores, "n": 9} for k in range(3)}
    assert "No text" not in printed({"per_class": common})
    rare = {"[rare]": {**scores, "f": 0.0, "n": 0}}
    out = printed({"per_class": common | rare}, 200)
    assert "No text is labelled '[rare]'; the scores do not apply to that class." in out
    many = {f"empty {k}": {**scores, "f": 0.0, "n": 0} for k in range(30)}
    out = printed({"per_class": common | many}, 600)
    assert "'empty 19' and 10 more; the scores do not apply to those classes." in out
    assert all(f"{name} 1.000 1.000 1.000 9" in out for name in common)


def test_classes_that_are_never_predicted_are_named_with_what_to_do() -> None:
    task = Multiclass(("a", "[b]", "c"))
    out = printed(dict(measure(task, np.eye(3)[[0, 0, 0]], np.array([0.0, 0.0, 1.0]))), 200)
    assert "Never predicted: '[b]'. Training with --class-weight balanced or --select macro_f may change that" in out
    assert "Never" not in printed(dict(measure(task, np.eye(3)[[0, 1, 0]], np.array([0.0, 1.0, 1.0]))), 200)


def test_a_class_that_the_macro_f1_leaves_out_has_no_scores() -> None:
    """Neither a label nor a prediction; one that is predicted counts."""
    task = Multiclass(("a", "b", "c"))
    answers = np.eye(3)[[0, 0, 1]]
    out = printed(dict(measure(task, answers, np.array([0.0, 0.0, 1.0]))))
    assert "macro F1 1.000" in out
    assert "c – – – 0" in out
    out = printed(dict(measure(task, np.eye(3)[[0, 2, 1]], np.array([0.0, 0.0, 1.0]))))
    assert "macro F1 0.556" in out
    assert "c 0.000 0.000 0.000 0" in out


def test_regression() -> None:
    out = printed(
        {"task": "regression", "n": 10, "rmse": 12345.6, "mae": 0.00012, "r2": -0.5, "rmse_of_mean": float("nan")}
    )
    assert "RMSE 1.23e+04" in out
    assert "MAE 0.00012" in out
    assert "R² −0.500" in out
    assert "RMSE of always predicting the mean –" in out


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-0.0, "0.000"), (-0.25, "−0.250"), (-1234.5, "−1.23e+03"), (-0.00012, "−0.00012"), (-3, "−3"), (0, "0")],
)
def test_numbers_have_a_minus_and_no_minus_zero(value: float, expected: str) -> None:
    assert written(value) == expected


@pytest.mark.parametrize(
    ("value", "sign", "expected"),
    [(-0.0, "", "0"), (-0.0, "+", "+0"), (-0.5, "+", "−0.5"), (0.5, "+", "+0.5"), (-12345.0, "", "−12,345")],
)
def test_answers_have_a_minus_and_no_minus_zero(value: float, sign: str, expected: str) -> None:
    assert figures(value, sign) == expected


@pytest.mark.parametrize(
    "metrics",
    [
        {},
        {"task": "binary"},
        {"accuracy_interval": [0, 1]},
        {"per_class": None, "confusion": None},
        {"per_class": {}, "confusion": {}},
        {"confusion": {"labels": ["a", "b"], "counts": [[1]]}},
        {"confusion": {"labels": ["a"]}},
        {"accuracy": None, "accuracy_interval": None},
    ],
)
def test_missing_and_broken_keys_are_tolerated(metrics: dict[str, Any]) -> None:
    printed(metrics)


def test_fifty_classes_stay_readable() -> None:
    names = [f"topic{place}" for place in range(50)]
    counts = [[100 if row == column else (row == 3 and column == 4) * 17 for column in range(50)] for row in range(50)]
    classes = {name: {"precision": 1.0, "recall": 1.0, "f": place / 50, "n": 100} for place, name in enumerate(names)}
    out = printed({"n": 5000, "per_class": classes, "confusion": {"labels": names, "counts": counts}})
    assert "20 of 50 classes, weakest first" in out
    assert "topic19" in out
    assert "topic20" not in out
    assert "topic3 topic4 17" in out
    assert len(out.splitlines()) < 40
