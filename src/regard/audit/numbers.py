"""Numbers as audit.json has them: six digits, and null where there is none."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.faithfulness.intervals import Difference, Interval, difference, interval
from regard.report.text.numbers import short

Doubles = NDArray[np.float64]


def finite(value: float) -> float | None:
    return short(value, 6) if math.isfinite(value) else None


def series(values: Iterable[float]) -> list[float | None]:
    return [finite(float(value)) for value in values]


def told(found: Interval | Difference) -> dict[str, Any]:
    return {name: value if name == "n" else finite(value) for name, value in found._asdict().items()}


def told_mean(values: Doubles, seed: int) -> dict[str, Any]:
    """n, mean, low, high of one value a text; a text that has NaN is left out."""
    return told(interval(values, seed=seed))


def told_difference(one: Doubles, other: Doubles, seed: int) -> dict[str, Any]:
    """The same of `one` less `other`, paired by text, with p."""
    return told(difference(one, other, seed=seed))
