"""Tasks: what labels are and what a model's outputs mean (two classes, several classes, several labels, or a number)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from regard.data.label_sets import rarest_label
from regard.data.labels import Labels, comma_number, natural_order, separates_thousands
from regard.errors import InputError, quoted
from regard.models.multilabel import MultiLabel
from regard.models.task import COMPRESSED, LABEL, Named, Task, TaskRow, sigmoid
from regard.records import Example, Label, Prediction

if TYPE_CHECKING:  # PyTorch takes a second to import, and the fast engine does without it
    from torch import Tensor

__all__ = [
    "COMPRESSED",
    "LABEL",
    "Binary",
    "Classes",
    "MultiLabel",
    "Multiclass",
    "Named",
    "Regression",
    "Task",
    "TaskRow",
    "as_number",
    "encoded",
    "labels_as_shown",
    "make_task",
    "number",
    "strata",
    "task_from_dict",
]
LARGEST = 1e150  # of the numbers of a regression


class Classes(Named, ABC):
    """Classification with two or more classes, of which a text has one."""

    def encode(self, label: Any, where: str) -> float:
        try:
            return float(self.classes.index(str(label)))
        except ValueError:
            raise self.unknown(label, where) from None

    @abstractmethod
    def chosen(self, answers: NDArray[np.float64]) -> NDArray[np.int64]:
        """(…, classes) -> (…), the number of the class that is predicted."""

    def predictions(self, answers: NDArray[np.float64]) -> list[Prediction]:
        classes = self.classes
        rows = zip(self.chosen(answers).tolist(), answers.tolist(), strict=True)
        return [Prediction(classes[best], dict(zip(classes, row, strict=True))) for best, row in rows]


@dataclass(frozen=True)
class Binary(Classes):
    """One logit: the second class against the first."""

    classes: tuple[str, ...]
    kind: str = "binary"
    out_dim: int = 1
    thresholds: tuple[
        float, ...
    ] = ()  # the probability from which the second class is predicted; empty: the more probable

    def chosen(self, answers: NDArray[np.float64]) -> NDArray[np.int64]:
        if not self.thresholds:
            return np.asarray(answers.argmax(-1))
        return np.asarray(answers[..., 1] >= self.thresholds[0], dtype=np.int64)

    def as_dict(self) -> TaskRow:
        row: TaskRow = {"kind": self.kind, "classes": list(self.classes)}
        return row | {"thresholds": list(self.thresholds)} if self.thresholds else row

    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        from torch.nn import functional

        return functional.binary_cross_entropy_with_logits(logits.squeeze(-1).float(), labels.float(), weights)

    def answers(self, logits: Any) -> NDArray[np.float64]:
        positive = sigmoid(np.asarray(logits, dtype=np.float64))
        return np.concatenate((1 - positive, positive), axis=1)


@dataclass(frozen=True)
class Multiclass(Classes):
    """One logit per class."""

    classes: tuple[str, ...]
    kind: str = "multiclass"

    @property
    def out_dim(self) -> int:  # type: ignore[override]
        return len(self.classes)

    def chosen(self, answers: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.asarray(answers.argmax(-1))

    def as_dict(self) -> TaskRow:
        return {"kind": self.kind, "classes": list(self.classes)}

    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        from torch.nn import functional

        if weights is None:
            return functional.cross_entropy(logits.float(), labels.long())
        return (functional.cross_entropy(logits.float(), labels.long(), reduction="none") * weights).mean()

    def answers(self, logits: Any) -> NDArray[np.float64]:
        values = np.asarray(logits, dtype=np.float64)
        powers = np.exp(values - values.max(-1, keepdims=True))
        result: NDArray[np.float64] = powers / powers.sum(-1, keepdims=True)
        return result


@dataclass(frozen=True)
class Regression(Task):
    """A number. The model learns (y − mean) / scale; answers are on the scale of the labels, from `low` to `high`."""

    mean: float
    scale: float
    low: float = -math.inf
    high: float = math.inf
    kind: str = "regression"
    out_dim: int = 1

    def encode(self, label: Any, where: str) -> float:
        return (number(label, where) - self.mean) / self.scale

    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        from torch.nn import functional

        if weights is None:
            return functional.mse_loss(logits.squeeze(-1).float(), labels.float())
        return (functional.mse_loss(logits.squeeze(-1).float(), labels.float(), reduction="none") * weights).mean()

    def answers(self, logits: Any) -> NDArray[np.float64]:
        return np.clip(np.asarray(logits, dtype=np.float64) * self.scale + self.mean, self.low, self.high)

    def predictions(self, answers: NDArray[np.float64]) -> list[Prediction]:
        return [Prediction(float(row[0]), {}) for row in answers]

    def as_dict(self) -> TaskRow:
        row: TaskRow = {"kind": self.kind, "mean": self.mean, "scale": self.scale}
        return row | {"low": self.low, "high": self.high} if self.has_limits else row

    @property
    def has_limits(self) -> bool:
        return math.isfinite(self.low)


def number(label: Any, where: str) -> float:
    try:
        value = float(label)
    except ValueError:
        read = comma_number(str(label))
        value = math.nan if read is None else read
    except (TypeError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where}: the label {str(label)!r} is not a number; regression needs numbers")
    return value


def make_task(kind: str, labels: Labels, where: str, within_range: bool = True, positive: str | None = None) -> Task:
    """The task defined by the training labels. Classes are sorted numerically, then alphabetically.

    `within_range`: whether predicted numbers stay within the range of the labels. `positive`: the second of two classes.
    """
    if labels.sets and kind != "multilabel":
        name = next(iter(labels.sets))
        raise InputError(
            f"{where}, row {labels.rows[name]}: expected one label per text for task = {kind}, got the list "
            f"{list(labels.sets[name])}; --task multilabel accepts several"
        )
    if positive is not None and (kind != "binary" or len(labels.names) > 2):
        raise InputError(f"{where}: positive = {positive!r} needs two classes, got task = {kind!r}; leave it out")
    if kind == "regression":
        return make_regression(labels, where, within_range)
    classes = tuple(sorted(labels.single_names, key=natural_order))
    if kind == "multilabel":
        if len(classes) < 2:
            raise InputError(f"{where}: expected at least two different labels, got {quoted(classes) or 'none'}")
        return MultiLabel.untuned(classes)
    if len(classes) < 2:
        raise InputError(f"{where}: expected at least two different labels, got only {classes[0]!r}")
    if kind == "multiclass":
        return Multiclass(classes)
    if len(classes) > 2:
        shown = ", ".join(map(repr, classes[:6]))
        raise InputError(f"{where}: expected two classes for task = binary, got {len(classes)} ({shown}, …)")
    if positive is not None and positive not in classes:
        raise InputError(f"{where}: positive: expected one of {quoted(classes)}, got {positive!r}")
    return Binary(classes if positive in (None, classes[1]) else classes[::-1])


def make_regression(labels: Labels, where: str, within_range: bool) -> Regression:
    if separates_thousands(labels.names):
        name, row = next((name, row) for name, row in labels.rows.items() if "," in name)
        raise InputError(
            f"{where}, row {row}: the comma of the label {name!r} may separate thousands or decimals; "
            "expected a decimal point, and nothing between thousands"
        )
    values = np.array([number(name, f"{where}, row {row}") for name, row in labels.rows.items()])[labels.codes]
    with np.errstate(over="ignore", invalid="ignore"):  # reported below
        mean, scale = float(values.mean()), float(values.std())
    if not scale > 0:
        raise InputError(f"{where}: expected at least two different numbers as labels, got only {labels.names[0]!r}")
    if not math.isfinite(mean) or not math.isfinite(scale):
        raise InputError(
            f"{where}: labels such as {np.abs(values).max():g} are too large to compute a standard deviation"
        )
    return (
        Regression(mean, scale, float(values.min()), float(values.max())) if within_range else Regression(mean, scale)
    )


def encoded(task: Task, labels: Labels, where: str, column: str | None = None) -> NDArray[np.float64]:
    """The label of every text as the number that `loss` takes: (texts,), or (texts, labels) of a multi-label task."""
    suffix = "" if column is None else f", column {column!r}"
    values = [
        task.encode(labels.sets.get(name, name), f"{where}, row {row}{suffix}") for name, row in labels.rows.items()
    ]
    shape = (len(values), task.out_dim) if isinstance(task, MultiLabel) else (len(values),)
    return np.array(values, dtype=np.float64).reshape(shape)[labels.codes]


def strata(task: Task, labels: Labels) -> NDArray[np.int32]:
    """The group of each text by which hold-outs and folds are stratified: its class, or its rarest label; one for numbers."""
    if isinstance(task, MultiLabel):
        return rarest_label(encoded(task, labels, "labels"))
    return labels.codes if isinstance(task, Classes) else np.zeros(len(labels), dtype=np.int32)


def bounded(value: Any, name: str) -> float:
    """A number of a regression whose square is finite, because errors are squared."""
    if not abs(number(value, name)) <= LARGEST:
        raise ValueError(f"{name}: expected a number of up to {LARGEST:g}, got {value:g}")
    return float(value)


def task_from_dict(row: TaskRow) -> Task:
    if row["kind"] == "regression":
        mean, scale = bounded(row["mean"], "mean"), bounded(row["scale"], "scale")
        if not scale > 0:
            raise ValueError(f"scale: expected a number above 0, got {scale:g}")
        if "low" not in row:  # runs of earlier versions
            return Regression(mean, scale)
        low, high = bounded(row["low"], "low"), bounded(row["high"], "high")
        if low > high:
            raise ValueError(f"low {low:g} is above high {high:g}")
        return Regression(mean, scale, low, high)
    if row["kind"] == MultiLabel.kind:
        return MultiLabel.from_dict(row)
    classes = class_names(row)
    if len(classes) < 2 or len(set(classes)) < len(classes) or (row["kind"] == "binary" and len(classes) > 2):
        raise ValueError(f"{len(classes)} classes for {row['kind']}")
    if row["kind"] == "multiclass":
        return Multiclass(classes)
    if row["kind"] != "binary":
        raise ValueError(f"a task of kind {row['kind']!r}")
    thresholds = tuple(number(value, "thresholds") for value in row.get("thresholds", ()))
    if len(thresholds) > 1 or not all(0 < value < 1 for value in thresholds):
        raise ValueError(f"thresholds: expected one number between 0 and 1, got {row.get('thresholds')}")
    return Binary(classes, thresholds=thresholds)


def class_names(row: TaskRow) -> tuple[str, ...]:
    names = row["classes"]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("classes: expected a list of strings")
    return tuple(names)


def labels_as_shown(task: Task, examples: Sequence[Example]) -> list[Label | None]:
    """True labels to show next to predictions: classes as written, numbers as floats, None if missing or invalid."""
    if isinstance(task, MultiLabel):
        return [None if example.label is None else task.label_set(example.label) for example in examples]
    if isinstance(task, Classes):
        return [None if example.label is None else str(example.label) for example in examples]
    return [as_number(example.label) for example in examples]


def as_number(label: Any) -> float | None:
    try:
        return number(label, "")
    except InputError:
        return None
