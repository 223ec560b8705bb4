"""The probability from which the second of two classes is predicted: a number, or the one with the highest F1 on dev texts.

With the default 0.5 a rare class is predicted seldom. A lower threshold finds more of its texts, and is wrong more often.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regard.config import BEST_F1
from regard.errors import InputError
from regard.models.tasks import Binary, Task

FEWEST = 20  # dev texts; with fewer, or with only one of the classes among them, there is no best threshold
LOWEST, HIGHEST = 0.02, 0.98  # one beyond these says more about the texts it was chosen on than about others

Floats = NDArray[np.float64]


def with_given_threshold(task: Task, threshold: float | str | None, where: str) -> Task:
    """The task with a threshold that is a number; `best-f1` is chosen after training."""
    if threshold is None:
        return task
    if not isinstance(task, Binary):
        raise InputError(
            f"{where}: threshold = {threshold!r} needs two classes, got task = {task.kind!r}; leave it out"
        )
    return task if threshold == BEST_F1 else replace(task, thresholds=(float(threshold),))


def with_best_threshold(task: Task, threshold: float | str | None, answers: Floats, labels: Floats) -> Task:
    """The task with the best threshold on these texts, if that was asked for and they suffice; otherwise it stays as it is."""
    if threshold != BEST_F1 or not isinstance(task, Binary):
        return task
    is_enough = len(labels) >= FEWEST and 0 < labels.sum() < len(labels)
    return replace(task, thresholds=(best_threshold(answers[:, 1], labels),)) if is_enough else task


def best_threshold(probabilities: Floats, labels: Floats) -> float:
    """Halfway between the lowest probability that is accepted and the highest that is not, where F1 is highest."""
    order = np.argsort(-probabilities, kind="stable")
    descending, correct = probabilities[order], np.cumsum(labels[order])
    accepted = np.arange(1, len(order) + 1)
    f = 2 * correct / (accepted + correct[-1])
    f[:-1][descending[:-1] == descending[1:]] = -1  # equal probabilities are accepted together
    last = int(f.argmax())
    below = descending[last + 1] if last + 1 < len(order) else 0.0
    return float(np.clip((descending[last] + below) / 2, LOWEST, HIGHEST))


def described_threshold(task: Task) -> str | None:
    """For the user: from which probability on which class is predicted; None if it is the more probable one."""
    if not isinstance(task, Binary) or not task.thresholds:
        return None
    return f"predicting {task.classes[1]!r} from a probability of {task.thresholds[0]:.3g} on"
