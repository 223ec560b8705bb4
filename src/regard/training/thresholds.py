"""The probability from which a label or class is predicted, chosen on texts that the model has not learned from.

Of two classes it is chosen if that is asked for (`binary_threshold`), of several labels always. A label with enough texts gets
the threshold with the highest F1 of its own. All others share one, the threshold with the highest micro F1 over all labels,
because the best threshold for a handful of texts is mostly noise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regard.models.multilabel import MultiLabel
from regard.models.tasks import Task
from regard.training.binary_threshold import best_threshold, with_best_threshold

FEWEST_TEXTS = 20  # with fewer, all thresholds stay 0.5
FEWEST_POSITIVE = 100  # texts with a label, for a threshold of its own

Floats = NDArray[np.float64]


def chooses_thresholds(task: Task, option: float | str | None) -> bool:
    """Whether `with_thresholds` may change the task. `option` is that of two classes."""
    return option is not None or isinstance(task, MultiLabel)


def with_thresholds(task: Task, option: float | str | None, answers: Floats, labels: Floats) -> Task:
    """The task with the thresholds that suit these texts."""
    return with_best_threshold(tuned(task, answers, labels), option, answers, labels)


def tuned(task: Task, answers: Floats, labels: Floats, fewest: int = FEWEST_POSITIVE) -> Task:
    """The task with the thresholds that suit these texts; other tasks have none and stay as they are."""
    if not isinstance(task, MultiLabel) or len(labels) < FEWEST_TEXTS or not labels.any():
        return task
    shared = best_threshold(answers.ravel(), labels.ravel())
    thresholds = tuple(
        best_threshold(answers[:, k], labels[:, k]) if labels[:, k].sum() >= fewest else shared
        for k in range(labels.shape[1])
    )
    return replace(task, thresholds=thresholds)
