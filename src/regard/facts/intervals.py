"""Means over texts with their 95 % intervals, as files hold them: rounded to six digits, None where there is no number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    n: int | None  # texts that have a value; None for an area under a curve, which is over words
    mean: float | None
    low: float | None
    high: float | None

    @property
    def bounds(self) -> tuple[float, float, float] | None:
        """Mean, low and high, where there is an interval."""
        if self.mean is None or self.low is None or self.high is None:
            return None
        return self.mean, self.low, self.high


@dataclass(frozen=True)
class Difference(Interval):
    """Paired by text."""

    p: float | None = None
