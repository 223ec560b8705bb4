"""The axis of every plot: from numbers to positions, round ticks, the grid, and labels that do not overlap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from regard.report.plots.svg import EDGE, FAINT, LETTER, rotated, text


@dataclass(frozen=True)
class Axis:
    """Maps numbers from `low` to `high` to positions from `start` to `end`."""

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
    """About `most` round numbers (1, 2, 2.5 or 5 times a power of ten) in the range; `whole`: integers, for epochs."""
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
        marked = [k * 10.0**power for power in powers for k in digits if low <= k * 10.0**power <= high * 1.0000001]
        if len(marked) <= most or digits == (1,):
            return marked
    return []


def fitting_ticks(x: Axis) -> list[float]:
    """As many round ticks as fit next to each other with their numbers."""
    for most in (6, 5, 4, 3):
        marked = x.ticks(most)
        widest = LETTER * max((len(number(tick)) for tick in marked), default=0)
        if all(x(after) - x(tick) > widest + 8 for tick, after in pairwise(marked)):
            break
    return marked


def span(values: Sequence[float], log: bool = False) -> tuple[float, float]:
    """The range of the values with a margin on both sides; never empty."""
    low, high = min(values), max(values)
    if log:
        margin = (high / low) ** 0.05 if high > low else 1.5
        return low / margin, high * margin
    margin = 0.06 * (high - low) or abs(high) * 0.05 or 1.0
    return low - margin, high + margin


def spread_labels(positions: Sequence[float], least: float, top: float, bottom: float) -> list[float]:
    """Positions of labels, moved so that none covers another; in their order, and inside the panel where there is room."""
    order = sorted(range(len(positions)), key=lambda k: positions[k])
    moved = [0.0] * len(positions)
    last = top - least
    for k in order:
        moved[k] = last = max(positions[k], last + least)
    limit = max(bottom, top + least * (len(positions) - 1))
    for k in reversed(order):
        moved[k] = min(moved[k], limit)
        limit = moved[k] - least
    return moved


def number(value: float) -> str:
    return f"{value:.10g}".replace("-", "−")


def tick_room(spans: Iterable[tuple[float, float]]) -> float:
    """The width that the ticks of a vertical axis and its name need."""
    widest = max(len(number(tick)) for low, high in spans for tick in Axis(low, high, 0, 1).ticks())
    return 30 + LETTER * widest


def grid(
    x: Axis, y: Axis, titles: tuple[str, str], room: float, whole: bool = False, zero: bool = True
) -> Iterator[str]:
    """Both axes. `room`: space left of the panel; `whole`: x is an integer; `zero`: emphasise the line at zero."""
    left, right, bottom, top = x.start, x.end, y.start, y.end
    for tick in y.ticks():
        yield f'<path d="M{left:.1f} {y(tick):.1f}H{right:.1f}" stroke="{FAINT if zero and tick == 0 else EDGE}"/>'
        yield text(left - 6, y(tick) + 4, number(tick), anchor="end", colour=FAINT)
    for tick in x.ticks(8, whole):
        yield f'<path d="M{x(tick):.1f} {bottom:.1f}v4" stroke="{FAINT}"/>'
        yield text(x(tick), bottom + 17, number(tick), anchor="middle", colour=FAINT)
    yield f'<path d="M{left:.1f} {bottom:.1f}H{right:.1f}" stroke="{FAINT}"/>'
    yield text((left + right) / 2, bottom + 35, titles[0], anchor="middle", colour=FAINT)
    yield rotated(left - room + 12, (top + bottom) / 2, titles[1])


def value_axis(x: Axis, top: float, bottom: float, title: str) -> Iterator[str]:
    """A horizontal axis alone, for panels whose rows have names."""
    for tick in fitting_ticks(x):
        yield f'<path d="M{x(tick):.1f} {top:.1f}V{bottom:.1f}" stroke="{FAINT if tick == 0 else EDGE}"/>'
        yield text(x(tick), bottom + 17, number(tick), anchor="middle", colour=FAINT)
    yield f'<path d="M{x.start:.1f} {bottom:.1f}H{x.end:.1f}" stroke="{FAINT}"/>'
    yield text((x.start + x.end) / 2, bottom + 35, title, anchor="middle", colour=FAINT)
