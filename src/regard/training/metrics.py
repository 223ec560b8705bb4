"""Metrics: accuracy, macro-F and log loss, or those of several labels, or RMSE, MAE and R²."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.models.tasks import Classes, MultiLabel, Task
from regard.run_metrics import Metrics, Scores
from regard.training.multilabel_metrics import multilabel_metrics
from regard.wilson import wilson_interval


def measure(task: Task, answers: NDArray[np.float64], labels: NDArray[np.float64]) -> Metrics:
    """Metrics of answers as the task returns them, for labels as it encodes them."""
    if isinstance(task, Classes):
        codes = labels.astype(np.int64)
        return {"task": task.kind, **classification_metrics(task.classes, answers, codes, task.chosen(answers))}
    if isinstance(task, MultiLabel):
        return {"task": task.kind, **multilabel_metrics(task, answers, labels)}
    mean, scale = task.as_dict()["mean"], task.as_dict()["scale"]
    return {"task": task.kind, **regression_metrics(answers[:, 0], labels * scale + mean, mean)}


def classification_metrics(
    classes: tuple[str, ...],
    answers: NDArray[np.float64],
    labels: NDArray[np.int64],
    predicted: NDArray[np.int64] | None = None,
) -> Metrics:
    """`predicted`: by default the most probable class of each text."""
    count, size = len(classes), len(labels)
    counts = np.zeros((count, count), dtype=np.int64)  # rows: actual, columns: predicted
    np.add.at(counts, (labels, answers.argmax(1) if predicted is None else predicted), 1)
    correct, answered, actual = np.diag(counts), counts.sum(0), counts.sum(1)
    precision, recall = ratio(correct, answered), ratio(correct, actual)
    f = ratio(2 * correct, answered + actual)
    occurs = (answered + actual) > 0  # a class that is neither a label nor a prediction has no F
    accuracy = float(correct.sum() / size)
    likelihood = answers[np.arange(size), labels].clip(1e-15, 1)
    return {
        "n": size,
        "accuracy": accuracy,
        "accuracy_interval": list(wilson_interval(accuracy, size)),
        "macro_f": float(f[occurs].mean()),
        "log_loss": float(-np.log(likelihood).mean()),
        "per_class": {
            name: {"precision": float(precision[k]), "recall": float(recall[k]), "f": float(f[k]), "n": int(actual[k])}
            for k, name in enumerate(classes)
        },
        "confusion": {"labels": list(classes), "counts": counts.tolist()},
    }


def ratio(numerator: NDArray[np.int64], denominator: NDArray[np.int64]) -> NDArray[np.float64]:
    """0 where the denominator is 0."""
    return np.where(denominator > 0, numerator / np.maximum(denominator, 1), 0.0)


def regression_metrics(predicted: NDArray[np.float64], actual: NDArray[np.float64], mean: float) -> Metrics:
    """`mean` is that of the training labels."""
    error = predicted - actual
    spread = float(((actual - actual.mean()) ** 2).sum())
    return {
        "n": len(actual),
        "rmse": float(np.sqrt((error**2).mean())),
        "mae": float(np.abs(error).mean()),
        "r2": 1 - float((error**2).sum()) / spread if spread > 0 else 0.0,
        "rmse_of_mean": float(np.sqrt(((actual - mean) ** 2).mean())),  # of always predicting the training mean
    }


def scalar_metrics(metrics: Metrics) -> Scores:
    """The metrics that are single numbers, as kept in a run's history."""
    return {name: value for name, value in metrics.items() if isinstance(value, float)}


def selection_score(metrics: Metrics | Scores, select: str = "accuracy") -> tuple[float, float]:
    """What decides which epoch is kept, larger is better: the selected score, then log loss if it is equal; or RMSE.

    Of several labels, accuracy stands for micro F1 and macro_f for macro F1.
    """
    if "micro_f1" in metrics:
        chosen = {"accuracy": metrics["micro_f1"], "macro_f": metrics["macro_f1"]}
        return chosen.get(select, 0.0), -metrics["log_loss"]
    if "accuracy" not in metrics:
        return -metrics["rmse"], 0.0
    if select == "macro_f":
        return metrics["macro_f"], -metrics["log_loss"]
    return metrics["accuracy"] if select == "accuracy" else 0.0, -metrics["log_loss"]
