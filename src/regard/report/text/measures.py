"""The metrics of an evaluation read for people: the numbers, and the classes and confusions worth a line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regard.report.text.characters import one_line

NAMES = {
    "n": "texts",
    "macro_f": "macro F1",
    "micro_f": "micro F1",
    "f": "F1",
    "log_loss": "log loss",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
    "rmse_of_mean": "RMSE of always saying the mean",
}
CLASSES = 20  # more than this many are shown weakest first, and only so many of them
MATRIX = 8  # a confusion matrix with more classes becomes a list of its largest mistakes
MISTAKES = 10  # of that list


@dataclass(frozen=True, slots=True)
class ClassRow:
    name: str
    precision: str
    recall: str
    f: str
    n: str


@dataclass(frozen=True, slots=True)
class Confusion:
    """`count` texts of class `true` were taken for `said`."""

    true: str
    said: str
    count: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows are the true classes, columns what was said."""

    labels: list[str]
    counts: list[list[int]]


def summary(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every single number, by name, with its interval behind it."""
    found = []
    for key, value in metrics.items():
        if isinstance(value, (Mapping, list, tuple)) or key == "task":
            continue
        found.append((metric_name(key), written(value) + interval(metrics.get(f"{key}_interval"))))
    return found


def class_rows(metrics: Mapping[str, Any]) -> tuple[list[ClassRow], int]:
    """A row a class, and how many classes there are in all; where there are many, the weakest."""
    classes = {name: row for name, row in (metrics.get("per_class") or {}).items() if isinstance(row, Mapping)}
    names = list(classes)
    if len(names) > CLASSES:
        # a class without a text has no score: it is none of the weakest
        names = sorted(names, key=lambda name: (classes[name].get("n") == 0, _rank(classes[name].get("f"))))[:CLASSES]
    rows = [
        ClassRow(one_line(x), *(written(classes[x].get(k)) for k in ("precision", "recall", "f", "n"))) for x in names
    ]
    return rows, len(classes)


def absent(metrics: Mapping[str, Any]) -> str:
    """The classes that no text is of, so that nobody takes a good score for theirs; nothing where there are none."""
    classes = (metrics.get("per_class") or {}).items()
    names = [one_line(name) for name, row in classes if isinstance(row, Mapping) and row.get("n") == 0]
    if not names:
        return ""
    more = f" and {len(names) - CLASSES} more" if len(names) > CLASSES else ""
    which = "that class" if len(names) == 1 else "those classes"
    return f"No text is labelled {', '.join(map(repr, names[:CLASSES]))}{more}; the scores tell nothing about {which}."


def matrix(metrics: Mapping[str, Any]) -> Matrix | None:
    """The whole confusion matrix, where it is small enough to read."""
    whole = whole_matrix(metrics)
    return whole if whole is not None and len(whole.labels) <= MATRIX else None


def confusions(metrics: Mapping[str, Any]) -> list[Confusion]:
    """The most frequent mistakes of a matrix that is too large to be shown."""
    whole = whole_matrix(metrics)
    if whole is None or len(whole.labels) <= MATRIX:
        return []
    mistakes = [
        Confusion(true, said, count)
        for place, (true, counts) in enumerate(zip(whole.labels, whole.counts, strict=True))
        for column, (said, count) in enumerate(zip(whole.labels, counts, strict=True))
        if count and place != column
    ]
    return sorted(mistakes, key=lambda mistake: -mistake.count)[:MISTAKES]


def metric_name(key: str) -> str:
    return NAMES.get(key, one_line(key).replace("_", " "))


def written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, float):
        told = f"{value:z.3f}" if 0.001 <= abs(value) < 1000 or value == 0 else f"{value:.3g}"
        return told.replace("-", "−")
    return f"{value:,}".replace("-", "−") if isinstance(value, int) else one_line(value)


def interval(bounds: Any) -> str:
    if not isinstance(bounds, (list, tuple)) or len(bounds) != 2:
        return ""
    return f" ({written(bounds[0])} to {written(bounds[1])})"


def _rank(f: Any) -> float:
    return float(f) if isinstance(f, (int, float)) and math.isfinite(f) else -1.0


def whole_matrix(metrics: Mapping[str, Any]) -> Matrix | None:
    confusion = metrics.get("confusion")
    if not isinstance(confusion, Mapping) or not confusion.get("labels"):
        return None
    labels, counts = [one_line(x) for x in confusion["labels"]], [list(row) for row in confusion.get("counts") or ()]
    square = len(counts) == len(labels) and all(len(row) == len(labels) for row in counts)
    return Matrix(labels, counts) if square else None
