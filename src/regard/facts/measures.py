"""The measures of an evaluation, read from what metrics.json holds: numbers with intervals, classes, confusion matrix.

Files of other versions and of other tools may lack any of it, so whatever does not fit is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Ends = tuple[float, float]  # of a 95 % interval


@dataclass(frozen=True, slots=True)
class Measure:
    key: str
    value: object
    interval: Ends | None


@dataclass(frozen=True, slots=True)
class ClassMeasures:
    name: str
    precision: object
    recall: object
    f: object
    n: object
    f_interval: Ends | None
    threshold: object = None  # of a multi-label task

    @property
    def is_absent(self) -> bool:
        """No text is labelled with the class, so that it has no score."""
        return self.n == 0

    @property
    def rank(self) -> tuple[bool, float]:
        """Weakest first; a class without a text is none of the weakest."""
        known = isinstance(self.f, (int, float)) and math.isfinite(self.f)
        return self.is_absent, float(self.f) if known else -1.0  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Confusion:
    """`count` texts of class `actual` were predicted as `predicted`."""

    actual: str
    predicted: str
    count: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows are actual classes, columns predicted ones."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    @property
    def mistakes(self) -> list[Confusion]:
        """Most frequent first."""
        mistakes = [
            Confusion(actual, predicted, count)
            for row, (actual, counts) in enumerate(zip(self.labels, self.counts, strict=True))
            for column, (predicted, count) in enumerate(zip(self.labels, counts, strict=True))
            if count and row != column
        ]
        return sorted(mistakes, key=lambda mistake: -mistake.count)


@dataclass(frozen=True)
class Measures:
    numbers: tuple[Measure, ...]
    classes: tuple[ClassMeasures, ...]
    matrix: Matrix | None

    @classmethod
    def of(cls, metrics: Mapping[str, object]) -> Measures:
        numbers = tuple(
            Measure(key, value, interval(metrics.get(f"{key}_interval")))
            for key, value in metrics.items()
            if key != "task" and not isinstance(value, (Mapping, list, tuple))
        )
        return cls(numbers, class_measures(metrics.get("per_class")), matrix(metrics.get("confusion")))

    def get(self, key: str) -> Measure | None:
        return next((measure for measure in self.numbers if measure.key == key), None)

    @property
    def absent(self) -> list[str]:
        """The classes that no text is labelled with."""
        return [one.name for one in self.classes if one.is_absent]

    @property
    def never_predicted(self) -> list[str]:
        """The classes that some texts are labelled with, but that no text was predicted as."""
        if self.matrix is None:
            return []
        columns = zip(*self.matrix.counts, strict=True)
        rows = zip(self.matrix.labels, self.matrix.counts, columns, strict=True)
        return [name for name, actual, predicted in rows if any(actual) and not any(predicted)]

    def has_scores(self, one: ClassMeasures) -> bool:
        """Whether precision, recall and F1 of a class mean something: not if it is neither a label nor a prediction."""
        if not one.is_absent:
            return True
        if self.matrix is None or one.name not in self.matrix.labels:
            return False
        column = self.matrix.labels.index(one.name)
        return any(row[column] for row in self.matrix.counts)

    @property
    def has_thresholds(self) -> bool:
        return any(one.threshold is not None for one in self.classes)

    def weakest(self, few: int, most: int) -> Sequence[ClassMeasures]:
        """All classes in their order if they are few, otherwise at most so many, the weakest first."""
        return self.classes if len(self.classes) <= few else sorted(self.classes, key=lambda one: one.rank)[:most]


def class_measures(given: object) -> tuple[ClassMeasures, ...]:
    rows = given.items() if isinstance(given, Mapping) else ()
    return tuple(
        ClassMeasures(
            name,
            row.get("precision"),
            row.get("recall"),
            row.get("f"),
            row.get("n"),
            interval(row.get("f_interval")),
            row.get("threshold"),
        )
        for name, row in rows
        if isinstance(row, Mapping)
    )


def interval(given: object) -> Ends | None:
    return (given[0], given[1]) if isinstance(given, (list, tuple)) and len(given) == 2 else None


def matrix(given: object) -> Matrix | None:
    """None unless it is square."""
    if not isinstance(given, Mapping) or not given.get("labels"):
        return None
    labels, counts = tuple(given["labels"]), tuple(tuple(row) for row in given.get("counts") or ())
    square = len(counts) == len(labels) and all(len(row) == len(labels) for row in counts)
    return Matrix(labels, counts) if square else None
