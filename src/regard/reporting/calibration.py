"""Whether a model is as often right as it says: answers in bins of how sure they are, each with a 95 % interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.wilson import NORMAL, wilson

BINS = 10
LEAST = 20  # texts below which there is nothing to see

Floats = NDArray[np.float64]


def of_classes(answers: Floats, labels: Floats) -> dict[str, Any] | None:
    """By the probability of the class that was said, from chance to 1: said, and how many were right (Wilson)."""
    if len(labels) < LEAST:
        return None
    sure, right = answers.max(1), (answers.argmax(1) == labels).astype(np.float64)
    edges = np.linspace(1 / answers.shape[1], 1, BINS + 1)
    places = np.clip(np.searchsorted(edges, sure, side="right") - 1, 0, BINS - 1)
    bins = []
    for place in np.unique(places):
        own = places == place
        share = float(right[own].mean())
        low, high = wilson(share, int(own.sum()))
        bins.append(
            {
                "from": float(edges[place]),
                "to": float(edges[place + 1]),
                "n": int(own.sum()),
                "said": float(sure[own].mean()),
                "found": share,
                "low": low,
                "high": high,
            }
        )
    error = sum(one["n"] * abs(one["said"] - one["found"]) for one in bins) / len(labels)
    return {"kind": "classes", "bins": bins, "error": float(error), "excess": mean_of(sure - right)}


def of_numbers(said: Floats, true: Floats) -> dict[str, Any] | None:
    """By the number that was said, in bins of equally many texts: its mean, and the mean of the true numbers."""
    if len(true) < LEAST:
        return None
    bins = []
    for own in np.array_split(np.argsort(said, kind="stable"), min(BINS, len(true) // 5)):
        found = mean_of(true[own])
        ends = {"from": float(said[own].min()), "to": float(said[own].max())}
        told = {"said": float(said[own].mean()), "found": found["mean"], "low": found["low"], "high": found["high"]}
        bins.append({**ends, "n": len(own), **told})
    return {"kind": "numbers", "bins": bins, "error": None, "excess": mean_of(said - true)}


def mean_of(values: Floats) -> dict[str, float]:
    """A mean with its interval by the normal distribution."""
    mean = float(values.mean())
    half = NORMAL * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return {"mean": mean, "low": mean - half, "high": mean + half}
