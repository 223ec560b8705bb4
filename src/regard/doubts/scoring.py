"""How doubtful a label is, given the answers of models that did not train on it.

Confident learning, from the definitions in Northcutt, Jiang & Chuang (2021), "Confident Learning: Estimating Uncertainty in
Dataset Labels": the threshold of a class is the mean probability that texts with its label get for it; a text is counted for the
likeliest of the classes whose threshold its probability reaches; these counts, the confident joint, are scaled to the number of
texts with each label, and what lies off the diagonal estimates how many labels are wrong. Texts are ranked by self-confidence,
which found more planted errors than margins or filtering by the joint did (`benchmarks/doubts.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]
TO_DEVIATION = 1.4826  # the standard deviation of a normal distribution in median absolute deviations


def self_doubt(probabilities: Doubles, labels: Ints) -> Doubles:
    """(texts,) one minus the probability of the given label."""
    return np.asarray(1 - probabilities[np.arange(len(labels)), labels])


def margin_doubt(probabilities: Doubles, labels: Ints) -> Doubles:
    """(texts,) how much likelier the best other class is than the given one."""
    others = probabilities.copy()
    others[np.arange(len(labels)), labels] = -1
    return np.asarray(others.max(1) - probabilities[np.arange(len(labels)), labels])


def class_thresholds(probabilities: Doubles, labels: Ints) -> Doubles:
    """(classes,) the mean probability of a class over the texts that are labelled with it; 1 if there are none."""
    classes = probabilities.shape[1]
    own = probabilities[np.arange(len(labels)), labels]
    counts = np.bincount(labels, minlength=classes)
    return np.where(counts > 0, np.bincount(labels, own, classes) / np.maximum(counts, 1), 1.0)


def normalised_doubt(probabilities: Doubles, labels: Ints) -> Doubles:
    """(texts,) the threshold of the given class minus its probability."""
    own = probabilities[np.arange(len(labels)), labels]
    return np.asarray(class_thresholds(probabilities, labels)[labels] - own)


def confident_classes(probabilities: Doubles, labels: Ints) -> Ints:
    """(texts,) the likeliest class whose threshold is reached, or −1 if none is."""
    # a mean of equal probabilities may exceed each of them by a rounding error
    reached = probabilities >= class_thresholds(probabilities, labels) - 1e-12
    return np.where(reached.any(1), np.where(reached, probabilities, -1.0).argmax(1), -1)


def confident_joint(probabilities: Doubles, labels: Ints) -> Doubles:
    """(given classes, likely classes) the estimated number of texts, whose rows sum to the number of texts with each label."""
    classes = probabilities.shape[1]
    likely = confident_classes(probabilities, labels)
    counted = likely >= 0
    joint = np.zeros((classes, classes))
    np.add.at(joint, (labels[counted], likely[counted]), 1)
    totals = joint.sum(1, keepdims=True)
    given = np.bincount(labels, minlength=classes)[:, None]
    return np.where(totals > 0, joint / np.maximum(totals, 1) * given, np.eye(classes) * given)


def estimated_errors(probabilities: Doubles, labels: Ints) -> float:
    """How many labels are wrong, by the confident joint."""
    joint = confident_joint(probabilities, labels)
    return float(joint.sum() - np.trace(joint))


def residual_doubt(predicted: Doubles, labels: Doubles) -> Doubles:
    """(texts,) of numbers: the distance between prediction and label, in robust standard deviations of that difference."""
    residuals = predicted - labels
    centred = np.abs(residuals - np.median(residuals))
    scale = TO_DEVIATION * float(np.median(centred)) or float(residuals.std()) or 1.0
    return np.asarray(centred / scale)
