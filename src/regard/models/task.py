"""What every task has: labels are encoded as training targets, and logits become answers and predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.records import Prediction

if TYPE_CHECKING:  # PyTorch takes a second to import, and the fast engine does without it
    from torch import Tensor

# names of heads: on the top level's vector, and on the output of a bottleneck
LABEL, COMPRESSED = "label", "compressed"


def sigmoid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + e^−x), in the form that does not overflow."""
    small = np.exp(-np.abs(values))
    return np.asarray(np.where(values >= 0, 1, small) / (1 + small))


class TaskRow(TypedDict, total=False):
    """The contents of task.json."""

    kind: Required[str]
    classes: list[str]  # of a classification
    thresholds: list[float]  # of a multi-label task: the probability from which each label is predicted
    mean: float  # of a regression's training labels, as is their standard deviation `scale`
    scale: float
    low: float  # the range of answers; absent if they have no limits
    high: float


class Task(ABC):
    """Converts labels as written to training targets, and logits to predictions."""

    kind: str
    out_dim: int

    @abstractmethod
    def encode(self, label: Any, where: str) -> float | NDArray[np.float64]:
        """Convert a label as written to the number, or one per label, that `loss` takes. Errors start with `where`."""

    @abstractmethod
    def loss(self, logits: Tensor, labels: Tensor, weights: Tensor | None = None) -> Tensor:
        """(B, C), (B,) or (B, C), (B,) -> (), the mean over texts of the loss, each times its weight."""

    @abstractmethod
    def answers(self, logits: Any) -> NDArray[np.float64]:
        """Probabilities (B, classes), or values on the scale of the labels (B, 1), from logits in host memory."""

    @abstractmethod
    def predictions(self, answers: NDArray[np.float64]) -> list[Prediction]: ...

    @abstractmethod
    def as_dict(self) -> TaskRow: ...


class Named(Task, ABC):
    """A task whose answers are probabilities of named classes or labels."""

    classes: tuple[str, ...]

    def unknown(self, label: Any, where: str) -> InputError:
        known = ", ".join(map(repr, self.classes[:20])) + (", …" if len(self.classes) > 20 else "")
        return InputError(f"{where}: the label {str(label)!r} was not among the training labels ({known})")
