"""Calibration: predictions in bins of similar confidence, each with its accuracy and a 95 % interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from regard.facts.run import Calibration, CalibrationBin, Mean
from regard.wilson import Z_95, wilson_interval

BINS = 10
MIN_TEXTS = 20  # with fewer, bins show nothing

Floats = NDArray[np.float64]


def of_classes(answers: Floats, labels: Floats) -> Calibration | None:
    """Bins of the probability of the predicted class, from 1/K to 1: mean confidence, and accuracy (Wilson)."""
    if len(labels) < MIN_TEXTS:
        return None
    confidence, correct = answers.max(1), (answers.argmax(1) == labels).astype(np.float64)
    edges = np.linspace(1 / answers.shape[1], 1, BINS + 1)
    numbers = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, BINS - 1)
    bins = []
    for number in np.unique(numbers):
        rows = numbers == number
        accuracy, n = float(correct[rows].mean()), int(rows.sum())
        start, end = float(edges[number]), float(edges[number + 1])
        bins.append(
            CalibrationBin(start, end, n, float(confidence[rows].mean()), accuracy, *wilson_interval(accuracy, n))
        )
    error = sum(one.n * abs(one.predicted - one.actual) for one in bins) / len(labels)
    return Calibration("classes", tuple(bins), float(error), mean_of(confidence - correct))


def of_labels(answers: Floats, labels: Floats) -> Calibration | None:
    """Of several labels per text: every label of every text is a decision between two classes."""
    if len(labels) < MIN_TEXTS:
        return None
    yes = answers.reshape(-1, 1)
    return of_classes(np.concatenate((1 - yes, yes), axis=1), labels.ravel())


def of_numbers(predicted: Floats, actual: Floats) -> Calibration | None:
    """Bins of the predicted number with equally many texts: its mean, and the mean of the actual numbers."""
    if len(actual) < MIN_TEXTS:
        return None
    bins = []
    for rows in np.array_split(np.argsort(predicted, kind="stable"), min(BINS, len(actual) // 5)):
        mean = mean_of(actual[rows])
        start, end = float(predicted[rows].min()), float(predicted[rows].max())
        bins.append(
            CalibrationBin(start, end, len(rows), float(predicted[rows].mean()), mean.mean, mean.low, mean.high)
        )
    return Calibration("numbers", tuple(bins), None, mean_of(predicted - actual))


def mean_of(values: Floats) -> Mean:
    """The mean with a 95 % interval from the normal distribution."""
    mean = float(values.mean())
    half = Z_95 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Mean(mean, mean - half, mean + half)
