"""Curves along training, each drawn as its type is: panels with a name at the end of every line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from regard.report.axes import Axis, apart, span
from regard.report.characters import cells, one_line
from regard.report.marks import Mark
from regard.report.panels import grid, panels, tick_room
from regard.report.plots import LETTER, Curve, spread, text

BANDS = 6  # more curves than this, and their bands would only hide each other


@dataclass(frozen=True)
class Along:
    """One panel: its curves with their marks."""

    title: str
    y_title: str
    curves: tuple[tuple[Curve, Mark], ...]
    most: float = math.inf  # that a value can be


def along(title: str, x_title: str, shown: Sequence[Along], stacked: bool = False) -> str:
    """Panels of curves over the same moments, each with a range of its own; beside each other, or low ones stacked."""
    size = (440.0, 120.0) if stacked else (330.0, 190.0) if len(shown) > 1 else (440.0, 250.0)
    names = [one_line(curve.name) for panel in shown for curve, _ in panel.curves]
    left, right = tick_room(map(reach, shown)), 14 + LETTER * max(map(cells, names))
    drawn = [partial(_panel, panel, size, left, x_title) for panel in shown]
    return panels(title, drawn, size, (left, right), any(panel.title for panel in shown), 1 if stacked else 2)


def reach(panel: Along) -> tuple[float, float]:
    """From the lowest to the highest value, bands included where they are drawn; hardly above what a value can be."""
    bands = len(panel.curves) <= BANDS
    low, high = span(
        [
            value
            for curve, _ in panel.curves
            for value in (*curve.y, *(curve.low if bands else ()), *(curve.high if bands else ()))
        ]
    )
    return low, min(high, panel.most + 0.06 * (panel.most - low))


def _panel(
    panel: Along, size: tuple[float, float], room: float, x_title: str, left: float, top: float
) -> Iterator[str]:
    right, bottom = left + size[0], top + size[1]
    moments = [moment for curve, _ in panel.curves for moment in curve.x]
    x = Axis(*span(moments), left, right)
    y = Axis(*reach(panel), bottom, top)
    if panel.title:
        yield text(left, top - 12, panel.title, weight="600")
    yield from grid(x, y, x_title, panel.y_title, room, whole=max(moments) >= 2)
    ends = apart([y(curve.y[-1]) for curve, _ in panel.curves], 14, top, bottom)
    if len(panel.curves) <= BANDS:
        for curve, mark in panel.curves:
            if curve.low != curve.high:
                yield from spread(curve, x, y, mark.colour, True, 0.0)
    for (curve, mark), end in zip(panel.curves, ends, strict=True):
        points = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(curve.x, curve.y, strict=True))
        dash = f' stroke-dasharray="{mark.dash}"' if mark.dash else ""
        pen = f'fill="none" stroke="{mark.colour}" stroke-width="2" stroke-linejoin="round"{dash}'
        yield f'<polyline points="{points}" {pen}/>'
        if len(curve.x) == 1:
            yield f'<path d="{mark.path(x(curve.x[0]), y(curve.y[0]), 4)}" fill="{mark.colour}"/>'
        yield text(right + 10, end + 4, curve.name, colour=mark.colour)
