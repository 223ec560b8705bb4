"""Points with an interval both ways, joined in their order, each with its name: what one quantity costs in another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.report.axes import Axis, span
from regard.report.panels import grid, panels, tick_room
from regard.report.plots import COLOURS, extent, text

Ends = tuple[float, float, float]  # value, and the ends of its interval
SIZE = (440.0, 260.0)
LINE = 13.0


@dataclass(frozen=True)
class Cross:
    name: str
    x: Ends
    y: Ends


def crosses(title: str, x_title: str, y_title: str, shown: Sequence[Cross]) -> str:
    across, up = (span([0.0, *(value for one in shown for value in (one.x, one.y)[side])]) for side in (0, 1))
    room = tick_room([up])

    def draw(left: float, top: float) -> Iterator[str]:
        x = Axis(*across, left, left + SIZE[0])
        y = Axis(*up, top + SIZE[1], top)
        yield from grid(x, y, x_title, y_title, room)
        points = " ".join(f"{x(one.x[0]):.1f},{y(one.y[0]):.1f}" for one in shown)
        yield f'<polyline points="{points}" fill="none" stroke="{COLOURS[0]}" stroke-dasharray="7 3"/>'
        named: list[tuple[float, float, float]] = []  # left, right, baseline
        for place, one in enumerate(shown):
            a, b = x(one.x[0]), y(one.y[0])
            way = f"M{x(one.x[1]):.1f} {b:.1f}H{x(one.x[2]):.1f}M{a:.1f} {y(one.y[1]):.1f}V{y(one.y[2]):.1f}"
            yield f'<path d="{way}" stroke="{COLOURS[0]}" stroke-width="2"/>'
            yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{COLOURS[0]}"/>'
            # above and below by turns, and farther off where a name stands already: points may lie close together
            line, step = (y(one.y[1]) + 15, LINE) if place % 2 else (y(one.y[2]) - 6, -LINE)
            start, end = a - extent(one.name) / 2, a + extent(one.name) / 2
            while any(start < right and left < end and abs(line - other) < LINE for left, right, other in named):
                line += step
            named.append((start, end, line))
            yield text(a, line, one.name, "middle")

    return panels(title, [draw], SIZE, (room, 20), headed=False)
