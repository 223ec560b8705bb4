"""The line plot: panels of curves with bands or intervals, the name of each curve at its right end."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from regard.report.plots.axis import Axis, grid, span, spread_labels, tick_room
from regard.report.plots.marks import Mark
from regard.report.plots.svg import COLOURS, DASHES, FAINT, GAP, LEFT, arrange, document, longest_label, text
from regard.report.text.characters import one_line

BANDS = 6  # with more curves, bands would hide each other
MARKED = 30  # points of a curve that get a dot each


@dataclass(frozen=True)
class Curve:
    """Points from left to right; `low` and `high` are drawn as a band, or as intervals at the points."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    mark: Mark | None = None  # None: by its position among the curves of the panel


@dataclass(frozen=True)
class Panel:
    title: str
    curves: tuple[Curve, ...]
    y_title: str = ""
    ceiling: float = math.inf  # the largest possible value
    marked: float | None = None  # an x with a dashed vertical line
    x_reach: tuple[float, ...] = ()  # values that an axis includes in any case
    y_reach: tuple[float, ...] = ()


@dataclass(frozen=True)
class Style:
    """`fitted` is the style of pages: the left margin fits the ticks, zero is emphasised, bands lie below all lines.

    Without it the margins are fixed, so that the figures of a paper's table line up.
    """

    band: bool = True  # False: an interval at each point
    log: bool = False
    whole: bool = False  # x is an integer; `fitted` decides by the range
    fitted: bool = False

    def draws_bands(self, panel: Panel) -> bool:
        return not self.fitted or len(panel.curves) <= BANDS


def lines(
    title: str,
    x_title: str,
    y_title: str,
    shown: Sequence[Panel],
    band: bool,
    log: bool = False,
    whole: bool = False,
) -> str:
    """Panels that share the names of their axes and the colours of their curves, each with separate ranges."""
    size = (330.0, 210.0) if len(shown) > 1 else (440.0, 260.0)
    style = Style(band, log, whole)
    drawn = [replace(panel, y_title=y_title) for panel in same_marks(shown)]
    return line_plot(title, x_title, drawn, style, size)


def same_marks(shown: Sequence[Panel]) -> Sequence[Panel]:
    """A curve has the same mark in every panel, unless there are more names than colours."""
    names = {name: n for n, name in enumerate(dict.fromkeys(curve.name for panel in shown for curve in panel.curves))}
    if len(names) > len(COLOURS):
        return shown
    return [
        replace(panel, curves=tuple(replace(one, mark=mark_of(one, names[one.name])) for one in panel.curves))
        for panel in shown
    ]


def training_lines(title: str, x_title: str, shown: Sequence[Panel], stacked: bool = False) -> str:
    """Panels over the same epochs in the style of pages; side by side, or low ones stacked."""
    size = (440.0, 120.0) if stacked else (330.0, 190.0) if len(shown) > 1 else (440.0, 250.0)
    return line_plot(title, x_title, shown, Style(fitted=True), size, 1 if stacked else 2)


def line_plot(
    title: str, x_title: str, shown: Sequence[Panel], style: Style, size: tuple[float, float], columns: int = 2
) -> str:
    names = [one_line(curve.name) if style.fitted else curve.name for panel in shown for curve in panel.curves]
    left = tick_room(value_range(panel, style) for panel in shown) if style.fitted else LEFT
    right = 14 + longest_label(names)
    drawn = [partial(draw_panel, panel, style, (x_title, left), size) for panel in shown]
    headed = any(panel.title for panel in shown) or not style.fitted
    body, width, height = arrange(drawn, size, (left, right), headed, columns, 0.0 if style.fitted else GAP)
    return document(title, width, height, body)


def value_range(panel: Panel, style: Style) -> tuple[float, float]:
    """From the lowest to the highest value, including bands that are drawn; hardly above the largest possible value."""
    bands = style.draws_bands(panel)
    low, high = span(
        [
            *panel.y_reach,
            *(v for curve in panel.curves for v in (*curve.y, *((*curve.low, *curve.high) if bands else ()))),
        ]
    )
    return low, min(high, panel.ceiling + 0.06 * (panel.ceiling - low))


def draw_panel(
    panel: Panel, style: Style, labels: tuple[str, float], size: tuple[float, float], left: float, top: float
) -> Iterator[str]:
    """`labels`: the name of x, and the space left of the panel."""
    right, bottom = left + size[0], top + size[1]
    values = [*panel.x_reach, *(value for curve in panel.curves for value in curve.x)]
    x = Axis(*span(values, style.log), left, right, style.log)
    y = Axis(*value_range(panel, style), bottom, top)
    if panel.marked is not None:
        pen = f'stroke="{FAINT}" stroke-width="1.5" stroke-dasharray="4 3"'
        yield f'<path d="M{x(panel.marked):.1f} {top:.1f}V{bottom:.1f}" {pen}/>'
    if panel.title or not style.fitted:
        yield text(left, top - 12, panel.title, weight="600")
    room = labels[1] if style.fitted else labels[1] - 4
    whole = max(values) >= 2 if style.fitted else style.whole
    yield from grid(x, y, (labels[0], panel.y_title), room, whole, zero=style.fitted)
    if style.fitted and style.draws_bands(panel):
        for number, curve in enumerate(panel.curves):
            if curve.low != curve.high:
                yield band(curve, x, y, mark_of(curve, number).colour)
    ends = spread_labels([y(curve.y[-1]) for curve in panel.curves], 14, top, bottom)
    for number, (curve, end) in enumerate(zip(panel.curves, ends, strict=True)):
        aside = 0.0 if style.band else 2.5 * (number - (len(panel.curves) - 1) / 2)  # so that intervals do not overlap
        yield from draw_curve(curve, mark_of(curve, number), style, (x, y), aside)
        yield text(right + 10, end + 4, curve.name, colour=mark_of(curve, number).colour)


def mark_of(curve: Curve, number: int) -> Mark:
    return curve.mark or Mark(COLOURS[number % len(COLOURS)], dash=DASHES[number % len(DASHES)])


def draw_curve(curve: Curve, mark: Mark, style: Style, axes: tuple[Axis, Axis], aside: float) -> Iterator[str]:
    x, y = axes
    if not style.band:
        yield from intervals(curve, x, y, mark.colour, aside)
    elif not style.fitted:
        yield band(curve, x, y, mark.colour)
    points = [(x(a) + aside, y(b)) for a, b in zip(curve.x, curve.y, strict=True)]
    drawn = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
    dash = f' stroke-dasharray="{mark.dash}"' if mark.dash else ""
    pen = f'fill="none" stroke="{mark.colour}" stroke-width="2" stroke-linejoin="round"{dash}'
    yield f'<polyline points="{drawn}" {pen}/>'
    if style.fitted:
        if len(points) == 1:
            yield f'<path d="{mark.path(*points[0], 4)}" fill="{mark.colour}"/>'
    elif len(points) <= MARKED and (not style.band or len(points) == 1):
        yield "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{mark.colour}"/>' for a, b in points)


def band(curve: Curve, x: Axis, y: Axis, colour: str) -> str:
    edges = list(zip(curve.x, curve.low, curve.high, strict=True))
    there = [f"{x(a):.1f},{y(low):.1f}" for a, low, _ in edges]
    back = [f"{x(a):.1f},{y(high):.1f}" for a, _, high in reversed(edges)]
    return f'<polygon points="{" ".join(there + back)}" fill="{colour}" fill-opacity="0.15"/>'


def intervals(curve: Curve, x: Axis, y: Axis, colour: str, aside: float) -> Iterator[str]:
    for a, low, high in zip(curve.x, curve.low, curve.high, strict=True):
        if high > low:
            yield f'<path d="M{x(a) + aside:.1f} {y(low):.1f}V{y(high):.1f}" stroke="{colour}" stroke-opacity="0.6"/>'
