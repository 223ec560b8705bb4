"""Axes of plots: from numbers to places, round ticks, and labels that don't cover each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Numbers to places: the ticks are round, and the ends are those of the data with a little air."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (math.log(x) if self.log else x for x in (self.low, self.high, value))
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def ticks(self, most: int = 6, whole: bool = False) -> list[float]:
        if self.log:
            return log_ticks(self.low, self.high, most)
        return ticks(self.low, self.high, most, whole)


def ticks(low: float, high: float, most: int = 6, whole: bool = False) -> list[float]:
    """Round numbers (1, 2, 2.5 or 5 times a power of ten) within the range, some `most`; `whole` for epochs and the like."""
    size = 10 ** math.floor(math.log10((high - low) / most))
    steps = [size * k for k in (1, 2, 2.5, 5, 10, 20)]
    if whole:
        steps = [step for step in (1, 2, *steps, 100 * size) if step >= 1 and step == int(step)]
    step = next(step for step in steps if (high - low) / step <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float, most: int) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        found = [k * 10.0**power for power in powers for k in digits if low <= k * 10.0**power <= high * 1.0000001]
        if len(found) <= most or digits == (1,):
            return found
    return []


def span(values: Sequence[float], log: bool = False) -> tuple[float, float]:
    """The range of the numbers with some air around; never empty."""
    low, high = min(values), max(values)
    if log:
        air = (high / low) ** 0.05 if high > low else 1.5
        return low / air, high * air
    air = 0.06 * (high - low) or abs(high) * 0.05 or 1.0
    return low - air, high + air


def apart(places: Sequence[float], least: float, top: float, bottom: float) -> list[float]:
    """Places of labels moved so that none covers another, in their order, within the panel where there is room."""
    order = sorted(range(len(places)), key=lambda k: places[k])
    moved = [0.0] * len(places)
    last = top - least
    for k in order:
        moved[k] = last = max(places[k], last + least)
    limit = max(bottom, top + least * (len(places) - 1))
    for k in reversed(order):
        moved[k] = min(moved[k], limit)
        limit = moved[k] - least
    return moved


def number(value: float) -> str:
    return f"{value:.10g}".replace("-", "−")
