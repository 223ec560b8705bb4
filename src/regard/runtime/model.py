"""A model that is shipped: labels, probabilities and explanations with NumPy, and onnxruntime where the model is a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.label_types import in_type, restore_labels
from regard.errors import InputError
from regard.explain.scored_text import record
from regard.explain.targets import numbers
from regard.models.tasks import Classes, MultiLabel, Named
from regard.records import Explanation
from regard.runtime.flat_model import FlatModel
from regard.runtime.onnx_model import OnnxModel


class RuntimeModel:
    """What `regard.runtime.load` returns. `classes` has the labels, sorted; it is None for a regression."""

    def __init__(self, model: FlatModel | OnnxModel, label_type: object = None) -> None:
        self.model, self.task = model, model.task
        self.classes: NDArray[Any] | None = None
        self._columns: list[int] = []
        if isinstance(self.task, Named):
            self.classes = np.unique(restore_labels(self.task.classes, label_type))
            self._columns = [self.task.classes.index(str(name)) for name in self.classes.tolist()]

    def predict(self, texts: Sequence[str]) -> NDArray[Any]:
        """The label of each text, or the number of a regression; of several labels, 1 and 0 per label of `classes`."""
        if self.classes is None:
            return np.asarray(self.task.answers(self.model.logits(checked(texts)))[:, 0])
        answers = self.task.answers(self.model.logits(checked(texts)))
        if isinstance(self.task, MultiLabel):
            return self.task.chosen(answers)[:, self._columns].astype(np.int64)
        assert isinstance(self.task, Classes)
        chosen: NDArray[Any] = self.classes[np.argsort(self._columns)[self.task.chosen(answers)]]
        return chosen

    def predict_proba(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities: one row per text, one column per class of `classes`."""
        if self.classes is None:
            raise InputError("predict_proba: expected a classifier, got a model that predicts numbers; use predict")
        return np.asarray(self.task.answers(self.model.logits(checked(texts)))[:, self._columns])

    def explain(self, text: str, target: Any = None, contributions: bool = True) -> Explanation:
        """The words of a text with their weights and signed contributions to the target, by default the predicted class.

        Contributions are what leaving a word out does. For a flat model they come from its tables; otherwise they take one
        pass per word. Without them an explanation has weights only, at the cost of a prediction.
        """
        if not isinstance(text, str):
            raise InputError(f"explain: expected one text, got a {type(text).__name__}")
        targets = numbers(self.task, None if target is None else str(target), 1)
        if isinstance(self.model, FlatModel):
            (scored,) = self.model.scored([text], targets)
        else:
            (scored,) = self.model.scored([text], targets, contributions)
        explanation = record(self.task, text, None, scored, self.model.methods)
        labels = {} if self.classes is None else {str(label): label for label in self.classes.tolist()}
        explanation = replace(explanation, prediction=in_type(explanation.prediction, labels))
        return explanation if contributions else weights_only(explanation)


def weights_only(explanation: Explanation) -> Explanation:
    return replace(
        explanation,
        tokens=tuple(replace(token, contribution=None) for token in explanation.tokens),
        sentences=tuple(replace(one, contribution=None) for one in explanation.sentences),
        parts=tuple(replace(one, contribution=None) for one in explanation.parts),
        contribution_method=None,
        target=None,
        repeated=(),
        strong=1.0,
    )


def checked(texts: Sequence[str]) -> Sequence[str]:
    if isinstance(texts, str):
        raise InputError("texts: expected a list of texts, got a single string; put it in a list")
    values = list(texts)
    for number, text in enumerate(values, 1):
        if not isinstance(text, str):
            raise InputError(f"texts, number {number}: expected a string, got {type(text).__name__}")
    return values
