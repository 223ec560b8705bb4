"""Metrics of several labels per text: F1 over all decisions and per label, exact matches, and mean average precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.models.multilabel import MultiLabel
from regard.run_metrics import Metrics
from regard.wilson import wilson_interval

Floats = NDArray[np.float64]


def multilabel_metrics(task: MultiLabel, answers: Floats, labels: Floats) -> Metrics:
    """`answers` and `labels` are (texts, labels). A label that is neither a label nor a prediction has no F1."""
    chosen, actual = task.chosen(answers), labels > 0
    correct, predicted, positive = (chosen & actual).sum(0), chosen.sum(0), actual.sum(0)
    precision, recall = share(correct, predicted), share(correct, positive)
    f = share(2 * correct, predicted + positive)
    occurs = (predicted + positive) > 0
    subset = float((chosen == actual).all(1).mean())
    precisions = [average_precision(answers[:, k], actual[:, k]) for k in np.flatnonzero(positive)]
    likelihood = np.where(actual, answers, 1 - answers).clip(1e-15, 1)
    return {
        "n": len(labels),
        "micro_f1": float(share(2 * correct.sum(), (predicted + positive).sum())),
        "macro_f1": float(f[occurs].mean()) if occurs.any() else 0.0,
        "subset_accuracy": subset,
        "subset_accuracy_interval": list(wilson_interval(subset, len(labels))),
        "map": float(np.mean(precisions)) if precisions else 0.0,
        "log_loss": float(-np.log(likelihood).mean()),
        "per_class": {
            name: {
                "precision": float(precision[k]),
                "recall": float(recall[k]),
                "f": float(f[k]),
                "n": int(positive[k]),
                "threshold": task.thresholds[k],
            }
            for k, name in enumerate(task.classes)
        },
    }


def share(numerator: NDArray[np.int64], denominator: NDArray[np.int64]) -> Floats:
    """0 where the denominator is 0."""
    return np.asarray(np.where(denominator > 0, numerator / np.maximum(denominator, 1), 0.0))


def average_precision(scores: Floats, actual: NDArray[np.bool_]) -> float:
    """Σ (R_k − R_{k−1}) P_k over the distinct scores, highest first: precision P and recall R of accepting all above."""
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)  # equal scores are accepted together
    correct = np.cumsum(actual[order])[ends]
    gained = np.diff(correct, prepend=0) / correct[-1]
    return float((gained * correct / (ends + 1)).sum())
