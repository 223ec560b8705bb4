"""How many seeds a comparison needs: the power of a paired t-test, and of two one-sided tests."""

from __future__ import annotations

import math
from collections.abc import Callable

MOST = 1000  # seeds; a comparison that needs more is out of reach
POWER = 0.8


def t_test_power(effect: float, spread: float, seeds: int) -> float:
    """Of the two-sided paired t-test at 5 %, if the differences have this mean and standard deviation."""
    from scipy.stats import nct, t  # type: ignore[import-untyped]

    edge = t.ppf(0.975, seeds - 1)
    shift = abs(effect) / spread * seeds**0.5
    power = float(1 - nct.cdf(edge, seeds - 1, shift) + nct.cdf(-edge, seeds - 1, shift))
    return 1.0 if math.isnan(power) and shift > edge else power  # SciPy has no value for very large effects


def equivalence_power(margin: float, spread: float, seeds: int) -> float:
    """Of two one-sided tests at 5 % where the true difference is zero (normal approximation of the joint rejection)."""
    from scipy.stats import t

    edge = t.ppf(0.95, seeds - 1)
    return max(0.0, float(2 * t.cdf(margin / spread * seeds**0.5 - edge, seeds - 1) - 1))


def seeds_for(power_of: Callable[[int], float], target: float = POWER) -> int | None:
    """The smallest number of seeds from 3 on with this power, which must grow with the seeds; None: more than `MOST`."""
    low, high = 3, MOST
    if power_of(high) < target:
        return None
    while low < high:
        middle = (low + high) // 2
        if power_of(middle) >= target:
            high = middle
        else:
            low = middle + 1
    return low
