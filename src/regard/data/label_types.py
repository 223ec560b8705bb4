"""Labels in the Python type that they were trained with: run folders store them as strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from regard.records import Prediction

# the type is recorded with the metrics of a run
LABELS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "bool": lambda name: name == "True", "str": str}


def restore_labels(names: Sequence[str], kind: object) -> list[Any]:
    """Labels in their Python type, or the strings of the run folder if these cannot be converted to it."""
    try:
        values = [LABELS[str(kind)](name) for name in names]
    except (KeyError, ValueError):
        return list(names)
    return values if [str(value) for value in values] == list(names) else list(names)


def in_type(prediction: Prediction, labels: Mapping[str, Any]) -> Prediction:
    """With the class in the Python type of the training labels, as `predict` returns it."""
    if isinstance(prediction.value, tuple):
        return replace(prediction, value=tuple(labels.get(name, name) for name in prediction.value))
    return replace(prediction, value=labels.get(str(prediction.value), prediction.value))
