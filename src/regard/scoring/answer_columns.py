"""A model's answers as Arrow columns: those that `Layout` names, with the values that it gives row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.extras import import_extra
from regard.models.tasks import Classes, MultiLabel, Task
from regard.report.text.predictions import Layout

Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]


def answer_columns(task: Task, layout: Layout, answers: Doubles, bad: Bools) -> dict[str, Any]:
    """`answers`: (rows, outputs); rows that are `bad` become null. Without novelty and errors."""
    arrow = import_extra("pyarrow", "Parquet")

    def numbers(values: Doubles) -> Any:
        if layout.digits is not None:
            values = np.array([layout.rounded(value) for value in values.tolist()], dtype=np.float64)
        return arrow.array(np.ascontiguousarray(values), arrow.float64(), mask=bad)

    def names(indices: NDArray[np.int64]) -> Any:
        codes = arrow.array(indices.astype(np.int32), mask=bad)
        return arrow.DictionaryArray.from_arrays(codes, arrow.array(layout.classes)).cast(arrow.string())

    if not layout.classes:
        return {"prediction": numbers(answers[:, 0])}
    columns: dict[str, Any] = {}
    if isinstance(task, MultiLabel):
        labels = [layout.named(prediction) for prediction in task.predictions(answers)]
        columns["prediction"] = arrow.array(labels, arrow.string(), mask=bad)
    else:
        assert isinstance(task, Classes)
        chosen = task.chosen(answers)
        columns["prediction"] = names(chosen)
        columns["confidence"] = numbers(answers[np.arange(len(answers)), chosen])
    if layout.top is None:
        return columns | {f"p({name})": numbers(answers[:, k]) for k, name in enumerate(layout.classes)}
    order = np.argsort(-answers, axis=1, kind="stable")
    for place in range(min(layout.top, len(layout.classes))):
        best = order[:, place]
        columns[f"class_{place + 1}"] = names(best)
        columns[f"probability_{place + 1}"] = numbers(answers[np.arange(len(answers)), best])
    return columns
