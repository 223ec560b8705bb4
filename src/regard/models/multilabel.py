"""Several labels per text: each label has its own logit and its own probability, and is predicted from its threshold on.

Training minimises the sum over the labels of the binary cross-entropies, as one-versus-rest classifiers would (with a shared
encoder). Thresholds are chosen on dev texts after training (`training/thresholds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from regard.data.label_sets import label_set
from regard.models.task import Named, TaskRow, sigmoid
from regard.records import Prediction

if TYPE_CHECKING:
    from torch import Tensor

EVEN = 0.5  # the threshold before any is chosen


@dataclass(frozen=True)
class MultiLabel(Named):
    """One logit per label."""

    classes: tuple[str, ...]
    thresholds: tuple[float, ...]  # the probability from which a label is predicted, one per label
    kind: str = "multilabel"

    @classmethod
    def untuned(cls, classes: tuple[str, ...]) -> Self:
        return cls(classes, (EVEN,) * len(classes))

    @property
    def out_dim(self) -> int:  # type: ignore[override]
        return len(self.classes)

    def encode(self, label: Any, where: str) -> NDArray[np.float64]:
        """1 for the labels of the text, 0 for others. A single label need not be in a list."""
        row = np.zeros(len(self.classes))
        for name in self.label_set(label):
            try:
                row[self.classes.index(name)] = 1
            except ValueError:
                raise self.unknown(name, where) from None
        return row

    def label_set(self, label: Any) -> tuple[str, ...]:
        return label_set(label) if isinstance(label, (tuple, list)) else (str(label),)

    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        from torch.nn import functional

        each = functional.binary_cross_entropy_with_logits(logits.float(), labels.float(), reduction="none").sum(1)
        return (each if weights is None else each * weights).mean()

    def answers(self, logits: Any) -> NDArray[np.float64]:
        return sigmoid(np.asarray(logits, dtype=np.float64))

    def chosen(self, answers: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(B, labels): which labels are predicted."""
        return np.asarray(answers >= np.array(self.thresholds))

    def predictions(self, answers: NDArray[np.float64]) -> list[Prediction]:
        rows = zip(self.chosen(answers).tolist(), answers.tolist(), strict=True)
        classes = self.classes
        return [
            Prediction(
                tuple(name for name, is_predicted in zip(classes, labels, strict=True) if is_predicted),
                dict(zip(classes, row, strict=True)),
            )
            for labels, row in rows
        ]

    def as_dict(self) -> TaskRow:
        return {"kind": self.kind, "classes": list(self.classes), "thresholds": list(self.thresholds)}

    @classmethod
    def from_dict(cls, row: TaskRow) -> Self:
        classes, thresholds = tuple(map(str, row["classes"])), tuple(map(float, row["thresholds"]))
        if len(classes) < 2 or len(set(classes)) < len(classes) or len(thresholds) != len(classes):
            raise ValueError(f"{len(classes)} classes and {len(thresholds)} thresholds for {row['kind']}")
        if not all(0 <= one <= 1 for one in thresholds):
            raise ValueError(f"thresholds: expected numbers from 0 to 1, got {list(thresholds)}")
        return cls(classes, thresholds)
