"""Metrics with 95 % bootstrap intervals: texts are resampled with replacement, with a fixed seed."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from regard.models.tasks import Classes, Task
from regard.run_metrics import Metrics
from regard.training.metrics import measure

DRAWS, MIN_DRAWS = 1000, 200
WORK = 20_000_000  # texts × draws: more texts are drawn fewer times, because their intervals are narrow
MIN_TEXTS = 10  # with fewer, the bootstrap shows nothing

Floats = NDArray[np.float64]
# where the intervals of the numbers are stored; accuracy has one already
INTERVALS: dict[
    Literal["macro_f", "micro_f1", "macro_f1", "map", "log_loss", "rmse", "mae", "r2"],
    Literal[
        "macro_f_interval",
        "micro_f1_interval",
        "macro_f1_interval",
        "map_interval",
        "log_loss_interval",
        "rmse_interval",
        "mae_interval",
        "r2_interval",
    ],
] = {
    "macro_f": "macro_f_interval",
    "micro_f1": "micro_f1_interval",
    "macro_f1": "macro_f1_interval",
    "map": "map_interval",
    "log_loss": "log_loss_interval",
    "rmse": "rmse_interval",
    "mae": "mae_interval",
    "r2": "r2_interval",
}


def draws_for(texts: int) -> int:
    return min(DRAWS, max(MIN_DRAWS, WORK // texts))


def measure_with_intervals(task: Task, answers: Floats, labels: Floats, seed: int = 0) -> Metrics:
    """`measure` with NAME_interval for each number, and the accuracy of always predicting the most frequent class."""
    metrics = measure(task, answers, labels)
    if isinstance(task, Classes):
        metrics["always_the_most_frequent_class"] = float(np.bincount(labels.astype(np.int64)).max() / len(labels))
    if len(labels) < MIN_TEXTS:
        return metrics
    rng = np.random.default_rng(seed)
    draws: list[Metrics] = []
    for _ in range(draws_for(labels.size)):
        rows = rng.integers(len(labels), size=len(labels))
        draws.append(measure(task, answers[rows], labels[rows]))
    for key, interval_key in INTERVALS.items():
        if key in metrics and (interval := central_interval([one[key] for one in draws])):
            metrics[interval_key] = interval
    for number, (name, row) in enumerate(metrics.get("per_class", {}).items()):
        if interval := central_interval([one["per_class"][name]["f"] for one in draws if occurs(one, name, number)]):
            row["f_interval"] = interval
    return metrics


def occurs(metrics: Metrics, name: str, number: int) -> bool:
    """A class that is neither a label nor a prediction in a draw has no F there."""
    row = metrics["per_class"][name]
    if "confusion" not in metrics:  # several labels per text
        return bool(row["n"]) or row["precision"] > 0
    return bool(row["n"]) or any(counts[number] for counts in metrics["confusion"]["counts"])


def central_interval(values: list[float]) -> list[float] | None:
    """The central 95 %; None if all values are equal: the bootstrap cannot show an error that no draw contains."""
    if not values:
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return [float(low), float(high)] if high > low else None
