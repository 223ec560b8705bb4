"""How good answers are: accuracy, macro-F and log loss, or RMSE, MAE and R², with intervals where they are simple."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.models.tasks import Classes, Task
from regard.wilson import wilson_interval


def measure(task: Task, answers: NDArray[np.float64], labels: NDArray[np.float64]) -> dict[str, Any]:
    """`answers` as the task gives them; `labels` as it encodes them."""
    if isinstance(task, Classes):
        return {"task": task.kind, **of_classes(task.classes, answers, labels.astype(np.int64))}
    mean, scale = task.as_dict()["mean"], task.as_dict()["scale"]
    return {"task": task.kind, **of_numbers(answers[:, 0], labels * scale + mean, mean)}


def of_classes(classes: tuple[str, ...], answers: NDArray[np.float64], labels: NDArray[np.int64]) -> dict[str, Any]:
    count, size = len(classes), len(labels)
    counts = np.zeros((count, count), dtype=np.int64)  # rows: true, columns: said
    np.add.at(counts, (labels, answers.argmax(1)), 1)
    right, said, true = np.diag(counts), counts.sum(0), counts.sum(1)
    precision, recall = ratio(right, said), ratio(right, true)
    f = ratio(2 * right, said + true)
    there = (said + true) > 0  # a class that neither occurs nor is said has no F
    accuracy = float(right.sum() / size)
    likelihood = answers[np.arange(size), labels].clip(1e-15, 1)
    return {
        "n": size,
        "accuracy": accuracy,
        "accuracy_interval": list(wilson_interval(accuracy, size)),
        "macro_f": float(f[there].mean()),
        "log_loss": float(-np.log(likelihood).mean()),
        "per_class": {
            name: {"precision": float(precision[k]), "recall": float(recall[k]), "f": float(f[k]), "n": int(true[k])}
            for k, name in enumerate(classes)
        },
        "confusion": {"labels": list(classes), "counts": counts.tolist()},
    }


def ratio(above: NDArray[np.int64], below: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(below > 0, above / np.maximum(below, 1), 0.0)


def of_numbers(said: NDArray[np.float64], true: NDArray[np.float64], mean: float) -> dict[str, Any]:
    error = said - true
    spread = float(((true - true.mean()) ** 2).sum())
    return {
        "n": len(true),
        "rmse": float(np.sqrt((error**2).mean())),
        "mae": float(np.abs(error).mean()),
        "r2": 1 - float((error**2).sum()) / spread if spread > 0 else 0.0,
        "rmse_of_mean": float(np.sqrt(((true - mean) ** 2).mean())),  # of saying the training mean every time
    }


def numbers(metrics: dict[str, Any]) -> dict[str, float]:
    """Those of the scores that are one number each, as a run's history keeps them."""
    return {name: value for name, value in metrics.items() if isinstance(value, float)}


def goodness(metrics: dict[str, Any]) -> tuple[float, float]:
    """What early stopping compares, larger is better: accuracy, of equal ones the smaller log loss; or RMSE."""
    if "accuracy" in metrics:
        return metrics["accuracy"], -metrics["log_loss"]
    return -metrics["rmse"], 0.0
