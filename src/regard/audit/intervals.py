"""Means over texts and paired differences as facts: rounded to six digits, None instead of NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from regard.facts.intervals import Difference, Interval
from regard.faithfulness import intervals
from regard.report.text.numbers import short

Doubles = NDArray[np.float64]


def finite(value: float) -> float | None:
    return short(value, 6) if math.isfinite(value) else None


def series(values: Iterable[float]) -> tuple[float | None, ...]:
    return tuple(finite(float(value)) for value in values)


def interval_of(one: intervals.Interval) -> Interval:
    return Interval(one.n, finite(one.mean), finite(one.low), finite(one.high))


def mean_interval(values: Doubles, seed: int) -> Interval:
    """Of one value per text; texts with NaN are left out."""
    return interval_of(intervals.interval(values, seed=seed))


def paired_difference(one: Doubles, other: Doubles, seed: int) -> Difference:
    """`one` minus `other`, paired by text."""
    paired = intervals.difference(one, other, seed=seed)
    return Difference(paired.n, finite(paired.mean), finite(paired.low), finite(paired.high), finite(paired.p))
