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
GOLDEN = (math.sqrt(5) - 1) / 2

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
    rows, codes = np.arange(len(labels)), labels.astype(np.int64)
    if isinstance(task, (Binary, MultiLabel)):
        values = np.concatenate((np.zeros_like(values), values), axis=1)

    def loss(log_temperature: float) -> float:
        scaled = values / math.exp(log_temperature)
        scaled -= scaled.max(1, keepdims=True)
        likelihood = scaled[rows, codes] - np.log(np.exp(scaled).sum(1))
        return float(-likelihood.sum()) + 0.5 * ((log_temperature - math.log(prior)) / SPREAD) ** 2

    return math.exp(lowest_point(loss, math.log(LOWEST), math.log(HIGHEST)))


def lowest_point(function: Callable[[float], float], low: float, high: float, steps: int = 40) -> float:
    """Of a function with one minimum: golden-section search. The log loss is convex in 1 / T, so it has one in log T."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(steps):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2
