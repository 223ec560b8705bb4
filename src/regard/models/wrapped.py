"""A model of which only the predicted probabilities are available: a function from texts to probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.config import Data
from regard.data.characters import Characters
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.models.capabilities import Capabilities
from regard.models.tasks import Binary, Multiclass
from regard.run_metrics import RunMetrics

Doubles = NDArray[np.float64]
PredictProba = Callable[[list[str]], ArrayLike]
SMALLEST = 1e-12  # probabilities below count as this one, so that log-odds stay finite
TOLERANCE = 1e-3  # of the sum of a text's probabilities, to allow for half precision
BATCH = 256  # texts per call


class WrappedModel:
    """`predict_proba` takes a list of texts and returns their probabilities, (texts, classes), in the order of `classes`."""

    is_flat = False
    is_opaque = True
    levels = Characters.levels

    def __init__(
        self,
        predict_proba: PredictProba,
        classes: Sequence[object],
        name: str = "model",
        batch_size: int = BATCH,
        encoder_weights: int = 0,
    ) -> None:
        names = tuple(str(one) for one in classes)
        if len(names) < 2 or len(set(names)) < len(names):
            raise InputError(f"classes: expected at least two different names, got {list(names)}")
        if not callable(predict_proba):
            raise InputError(f"predict_proba: expected a function, got {type(predict_proba).__name__}")
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise InputError(f"batch_size: expected a whole number of at least 1, got {batch_size!r}")
        self.predict_proba_of, self.name, self.batch_size = predict_proba, name, batch_size
        self.encoder_weights = encoder_weights
        self.task: Binary | Multiclass = Binary(names) if len(names) == 2 else Multiclass(names)
        self.tokenizer = Characters()
        self.capabilities: list[Capabilities] = []
        self.data = Data()
        self.metrics: RunMetrics = {}
        self.digests: dict[str, str] | None = None

    @property
    def title(self) -> str:
        return self.name

    @property
    def description(self) -> str:
        return f"{self.name}, of which only predictions are available"

    def answers(self, texts: Sequence[str]) -> Doubles:
        """Each different text is predicted once, texts of similar length together."""
        rows: dict[str, int] = {}
        for text in sorted(set(texts), key=lambda text: (len(text), text)):
            rows[text] = len(rows)
        unique = list(rows)
        parts = [np.zeros((0, len(self.task.classes)))]
        for start in range(0, len(unique), self.batch_size):
            batch = unique[start : start + self.batch_size]
            parts.append(self.checked(self.predict_proba_of(batch), len(batch)))
        return np.asarray(np.concatenate(parts)[[rows[text] for text in texts]])

    def checked(self, probabilities: ArrayLike, texts: int) -> Doubles:
        values = np.asarray(probabilities, dtype=np.float64)
        shape = (texts, len(self.task.classes))
        if values.shape != shape:
            raise InputError(
                f"{self.name}, predict_proba: expected an array of {shape[0]} texts × {shape[1]} classes, got {values.shape}"
            )
        totals = values.sum(1)
        wrong = ~(np.abs(totals - 1) < TOLERANCE) | (values < 0).any(1)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"{self.name}, predict_proba: expected probabilities that sum to 1, got {values[row].tolist()[:5]}"
            )
        return np.asarray(values / totals[:, None])

    def logits(self, texts: Sequence[Indexed]) -> Doubles:
        """Log probabilities, (texts, classes), or the log-odds of the second of two classes, (texts, 1)."""
        probabilities = self.answers([self.tokenizer.decode(one) for one in texts])
        logs = np.log(np.maximum(probabilities, SMALLEST))
        return np.asarray(logs[:, 1:] - logs[:, :1] if isinstance(self.task, Binary) else logs)
