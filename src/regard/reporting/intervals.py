"""Measures with 95 % intervals: the texts are drawn again, with a seed, and measured again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.models.tasks import Classes, Task
from regard.training.metrics import measure

DRAWS, LEAST_DRAWS = 1000, 200
WORK = 20_000_000  # texts × draws: more texts are drawn fewer times, for their intervals are narrow
FEW = 10  # texts below which drawing again says nothing

Floats = NDArray[np.float64]


def measured(task: Task, answers: Floats, labels: Floats, seed: int = 0) -> dict[str, Any]:
    """As `measure`, each number with NAME_interval beside it, and what saying the most frequent class would reach."""
    found = measure(task, answers, labels)
    if isinstance(task, Classes):
        found["always_the_most_frequent_class"] = float(np.bincount(labels.astype(np.int64)).max() / len(labels))
    if len(labels) < FEW:
        return found
    chance = np.random.default_rng(seed)
    again: list[Mapping[str, Any]] = []
    for _ in range(min(DRAWS, max(LEAST_DRAWS, WORK // len(labels)))):
        rows = chance.integers(len(labels), size=len(labels))
        again.append(measure(task, answers[rows], labels[rows]))
    for name in ("macro_f", "log_loss", "rmse", "mae", "r2"):
        if name in found and (ends := middle([one[name] for one in again])):
            found[f"{name}_interval"] = ends
    for number, (name, row) in enumerate(found.get("per_class", {}).items()):
        if ends := middle([one["per_class"][name]["f"] for one in again if occurs(one, name, number)]):
            row["f_interval"] = ends
    return found


def occurs(found: Mapping[str, Any], name: str, number: int) -> bool:
    """A class that no text of a draw has, nor is answered, has no F there."""
    return bool(found["per_class"][name]["n"]) or any(row[number] for row in found["confusion"]["counts"])


def middle(values: list[float]) -> list[float] | None:
    """Where the middle 95 % of them lie; None where all are one: drawing again cannot show a mistake that none made."""
    if not values:
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return [float(low), float(high)] if high > low else None
