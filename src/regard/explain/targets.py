"""The target of an explanation: a named class, else the predicted one, or the prediction of a regression.

Of several labels per text, the most probable one is explained unless another is named, also if none is predicted.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError, quoted
from regard.models.tasks import Binary, Classes, MultiLabel, Named, Regression, Task

if TYPE_CHECKING:
    from torch import Tensor

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
Values = TypeVar("Values", "NDArray[np.float64]", "Tensor")
PREDICTED = -1  # the predicted class

Target = str | int | None  # a class by its name or by its number; None: the predicted one


def numbers(task: Task, targets: Sequence[Target] | Target, texts: int) -> Ints:
    """(texts,) the class number for each text, PREDICTED where none is named. A single target applies to all texts."""
    if targets is None or isinstance(targets, (str, int)):
        targets = [targets] * texts
    if len(targets) != texts:
        raise InputError(f"targets: expected one per text or one for all, got {len(targets)} for {texts} texts")
    return np.array([number(task, target) for target in targets], dtype=np.int64)


def number(task: Task, target: Target) -> int:
    if target is None:
        return PREDICTED
    if not isinstance(task, Named):
        raise InputError(f"target: expected None for a regression model, got {target!r}")
    if isinstance(target, str):
        if target not in task.classes:
            near = difflib.get_close_matches(target, task.classes, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(f"target: expected one of {quoted(task.classes)}, got {target!r}{meant}")
        return task.classes.index(target)
    if isinstance(target, bool) or not 0 <= target < len(task.classes):
        raise InputError(f"target: expected a class name or a number from 0 to {len(task.classes) - 1}, got {target!r}")
    return int(target)


def settled(task: Task, logits: Doubles, targets: Ints) -> Ints:
    """The targets, with the predicted class where none was named."""
    if isinstance(task, Regression):
        return np.zeros_like(targets)
    answers = task.answers(logits)
    predicted = task.chosen(answers) if isinstance(task, Classes) else answers.argmax(1)
    return np.where(targets == PREDICTED, predicted, targets)


def explained(task: Task, logits: Values, targets: Any) -> Values:
    """The number per text that scores are about: the log-odds of its target, or the prediction in the user's unit.

    (B, C), (B,) -> (B,), both NumPy or both PyTorch.

    Log-odds, log p − log(1 − p), rise and fall with the probability; a class's logit alone can rise while its probability
    falls, because those of other classes rise more. Two classes share one logit, the log-odds of the second class.
    """
    if isinstance(task, Regression):
        return logits[:, 0] * task.scale + task.mean
    if isinstance(task, MultiLabel):  # each label has its own log-odds
        return logits[range(len(logits)), targets]
    if isinstance(task, Binary):
        signed: Values = logits[:, 0] * (2.0 * targets - 1)
        return signed
    rows = range(len(logits))
    if isinstance(logits, np.ndarray):
        others = logits.copy()
        others[rows, targets] = -np.inf
        return np.asarray(logits[rows, targets] - np.logaddexp.reduce(others, axis=1))
    others = logits.clone()
    others[rows, targets] = -math.inf
    odds: Values = logits[rows, targets] - others.logsumexp(1)
    return odds


def probability(task: Task, logits: Doubles, targets: Ints) -> Doubles:
    """The probability of each text's target."""
    return np.asarray(task.answers(logits)[np.arange(len(logits)), targets])
