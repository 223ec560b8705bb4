"""One temperature for all logits, which makes probabilities as high as the share of right answers (Guo et al. 2017).

It is fitted on texts that the model was not trained on, and divides the weights of the output layer, so that every later use of
the model is calibrated: predictions, contributions, exports. Predicted classes stay the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from regard.models.tasks import Binary, MultiLabel, Named, Task

FEWEST = 20  # texts; with fewer the temperature stays 1
LOWEST, HIGHEST = 0.25, 16.0
SPREAD = 1.0  # standard deviation of log T before any text was seen, which keeps few texts from extremes
TOLERANCE = 1e-9  # of log T

Doubles = NDArray[np.float64]


def fit_temperature(task: Task, logits: NDArray[np.floating], labels: Doubles, prior: float = 1.0) -> float:
    """The temperature with the lowest log loss; the `prior` for too few texts, and 1 for a regression."""
    if not isinstance(task, Named):
        return 1.0
    if len(labels) < FEWEST:
        return prior
    values = logits.astype(np.float64)
    if isinstance(task, MultiLabel):  # every label is a decision between two classes
        values, labels = values.reshape(-1, 1), labels.ravel()
    codes = labels.astype(np.int64)
    if isinstance(task, (Binary, MultiLabel)):
        values = np.concatenate((np.zeros_like(values), values), axis=1)
    values -= values.max(1, keepdims=True)
    true, center = values[np.arange(len(codes)), codes].sum(), math.log(prior)

    def slopes(log_temperature: float) -> tuple[float, float]:
        """The first two derivatives of the log loss, and of what keeps few texts from extremes, by log T."""
        rate = math.exp(-log_temperature)
        weights = np.exp(values * rate)
        weights /= weights.sum(1, keepdims=True)
        weights *= values
        means = weights.sum(1)  # of each text's logits
        variance = float(np.vdot(weights, values) - np.vdot(means, means))
        first = rate * float(true - means.sum())
        return first + (log_temperature - center) / SPREAD**2, rate * rate * variance - first + SPREAD**-2

    return math.exp(root(slopes, center, math.log(LOWEST), math.log(HIGHEST)))


def root(
    slopes: Callable[[float], tuple[float, float]], start: float, low: float, high: float, steps: int = 60
) -> float:
    """Where a function with one minimum has it: Newton's method within bounds that each step narrows, otherwise bisection."""
    point = min(max(start, low), high)
    for _ in range(steps):
        first, second = slopes(point)
        low, high = (point, high) if first < 0 else (low, point)
        step = point - first / second if second > 0 else math.inf
        last, point = point, step if low < step < high else (low + high) / 2
        if abs(point - last) < TOLERANCE:
            break
    return point
