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
    def ends(self) -> tuple[float | None, float | None, float | None]:
        return self.mean, self.low, self.high


@dataclass(frozen=True)
class Difference(Interval):
    """Paired by text."""

    p: float | None = None
