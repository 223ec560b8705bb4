"""The empty panel of a plot: grid, ticks, a line at zero and the names of the axes; and panels set beside each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from regard.report.axes import Axis, number
from regard.report.plots import BOTTOM, EDGE, FAINT, GAP, LETTER, TOP, document, text, turned

Draw = Callable[[float, float], Iterable[str]]  # what a panel holds, given its left and top


def panels(
    title: str,
    drawn: Sequence[Draw],
    size: tuple[float, float],
    sides: tuple[float, float],
    headed: bool,
    columns: int = 2,
) -> str:
    """Panels of one size; `sides`: the room for labels left and right of each; `headed`: they have titles."""
    columns = min(columns, len(drawn))
    head = TOP + 18 if headed else TOP
    across, down = sum(sides) + size[0] + GAP, size[1] + BOTTOM + (TOP if headed else 0)
    body = [
        shape
        for place, draw in enumerate(drawn)
        for shape in draw((place % columns) * across + sides[0], (place // columns) * down + head)
    ]
    rows = math.ceil(len(drawn) / columns)
    return document(title, columns * across - GAP + 8, head + rows * down - (TOP if headed else 0), body)


def tick_room(spans: Iterable[tuple[float, float]]) -> float:
    """How much room the ticks of an upright axis and its name take."""
    widest = max(len(number(tick)) for low, high in spans for tick in Axis(low, high, 0, 1).ticks())
    return 30 + LETTER * widest


def grid(x: Axis, y: Axis, x_title: str, y_title: str, room: float, whole: bool = False) -> Iterator[str]:
    """Both axes with round ticks. `room`: left of the panel; `whole`: x counts something."""
    left, right, bottom, top = x.start, x.end, y.start, y.end
    for tick in y.ticks():
        yield f'<path d="M{left:.1f} {y(tick):.1f}H{right:.1f}" stroke="{FAINT if tick == 0 else EDGE}"/>'
        yield text(left - 6, y(tick) + 4, number(tick), anchor="end", colour=FAINT)
    for tick in x.ticks(8, whole):
        yield f'<path d="M{x(tick):.1f} {bottom:.1f}v4" stroke="{FAINT}"/>'
        yield text(x(tick), bottom + 17, number(tick), anchor="middle", colour=FAINT)
    yield f'<path d="M{left:.1f} {bottom:.1f}H{right:.1f}" stroke="{FAINT}"/>'
    yield text((left + right) / 2, bottom + 35, x_title, anchor="middle", colour=FAINT)
    yield turned(left - room + 12, (top + bottom) / 2, y_title)


def upright(x: Axis, top: float, bottom: float, x_title: str) -> Iterator[str]:
    """An axis along the bottom alone, for panels whose lines have names."""
    for tick in roomy_ticks(x):
        yield f'<path d="M{x(tick):.1f} {top:.1f}V{bottom:.1f}" stroke="{FAINT if tick == 0 else EDGE}"/>'
        yield text(x(tick), bottom + 17, number(tick), anchor="middle", colour=FAINT)
    yield f'<path d="M{x.start:.1f} {bottom:.1f}H{x.end:.1f}" stroke="{FAINT}"/>'
    yield text((x.start + x.end) / 2, bottom + 35, x_title, anchor="middle", colour=FAINT)


def roomy_ticks(x: Axis) -> list[float]:
    """As many round ticks as have room for their numbers beside each other."""
    for most in (6, 5, 4, 3):
        found = x.ticks(most)
        widest = LETTER * max((len(number(tick)) for tick in found), default=0)
        if all(x(after) - x(tick) > widest + 8 for tick, after in pairwise(found)):
            break
    return found
