"""Plots as plain SVG: panels of lines with bands or intervals, or of dots with intervals; round ticks, direct labels.

The colours are Okabe and Ito's, which every kind of colour blindness tells apart; lines also differ in their dashes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from regard.report.axes import Axis, apart, number, span
from regard.report.characters import cells, one_line
from regard.report.pdf_letters import letter

COLOURS = ("#0072b2", "#d55000", "#009e73", "#b0578a", "#b07a00", "#3b9bd0", "#555555", "#7d3ac1")
DASHES = ("", "7 3", "2 3", "8 3 2 3", "12 4", "4 2", "1 4", "9 2 2 2 2 2")
INK, FAINT, EDGE = "#1b1d21", "#595e68", "#dcdcd8"
LETTER = 6.3  # width of a letter of the labels
WIDE_FONT = 1.15  # how much wider than Helvetica's the letters of DejaVu Sans are, which some systems set labels in
LEFT, TOP, BOTTOM, GAP = 62, 46, 44, 26


@dataclass(frozen=True)
class Curve:
    """Points from left to right; `low` and `high` are drawn as a band, or as intervals at the points."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Dot:
    """A value with its interval on a line of its own, and maybe somebody else's value as a hollow mark."""

    name: str
    y: float
    low: float
    high: float
    other: float | None = None


@dataclass(frozen=True)
class Panel:
    title: str
    curves: tuple[Curve, ...] = ()
    dots: tuple[Dot, ...] = ()


def lines(
    title: str,
    x_title: str,
    y_title: str,
    panels: Sequence[Panel],
    band: bool,
    log: bool = False,
    whole: bool = False,
) -> str:
    """Panels of curves, each with axes of its own; the name of a curve stands at its end. `whole`: x counts something."""
    room = 14 + LETTER * max((cells(curve.name) for panel in panels for curve in panel.curves), default=0)
    width, height = (330, 210) if len(panels) > 1 else (440, 260)
    whole_width = LEFT + width + room
    columns = min(2, len(panels))
    rows = math.ceil(len(panels) / columns)
    whole_height = TOP + height + BOTTOM
    body: list[str] = []
    for place, panel in enumerate(panels):
        left = (place % columns) * (whole_width + GAP) + LEFT
        top = (place // columns) * (whole_height + GAP) + TOP + 18
        body += line_panel(panel, left, top, width, height, x_title, y_title, band, log, whole)
    return document(title, columns * (whole_width + GAP) - GAP + 8, rows * (whole_height + GAP) - GAP + 18, body)


def line_panel(
    panel: Panel,
    left: float,
    top: float,
    width: float,
    height: float,
    x_title: str,
    y_title: str,
    band: bool,
    log: bool,
    whole: bool,
) -> Iterator[str]:
    right, bottom = left + width, top + height
    x = Axis(*span([v for c in panel.curves for v in c.x], log), left, right, log)
    y = Axis(*span([v for c in panel.curves for v in (*c.y, *c.low, *c.high)]), bottom, top)
    yield text(left, top - 12, panel.title, weight="600")
    for tick in y.ticks():
        yield f'<path d="M{left:.1f} {y(tick):.1f}H{right:.1f}" stroke="{EDGE}"/>'
        yield text(left - 6, y(tick) + 4, number(tick), anchor="end", colour=FAINT)
    for tick in x.ticks(8, whole):
        yield f'<path d="M{x(tick):.1f} {bottom:.1f}v4" stroke="{FAINT}"/>'
        yield text(x(tick), bottom + 17, number(tick), anchor="middle", colour=FAINT)
    yield f'<path d="M{left:.1f} {bottom:.1f}H{right:.1f}" stroke="{FAINT}"/>'
    yield text((left + right) / 2, bottom + 35, x_title, anchor="middle", colour=FAINT)
    yield turned(left - 46, (top + bottom) / 2, y_title)
    ends = apart([y(curve.y[-1]) for curve in panel.curves], 14, top, bottom)
    for place, (curve, end) in enumerate(zip(panel.curves, ends, strict=True)):
        colour = COLOURS[place % len(COLOURS)]
        aside = 0.0 if band else 2.5 * (place - (len(panel.curves) - 1) / 2)  # or intervals would cover each other
        points = [(x(a) + aside, y(b)) for a, b in zip(curve.x, curve.y, strict=True)]
        yield from spread(curve, x, y, colour, band, aside)
        dash = f' stroke-dasharray="{DASHES[place % len(DASHES)]}"' if DASHES[place % len(DASHES)] else ""
        drawn = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        yield f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"{dash}/>'
        if len(points) <= 30 and (not band or len(points) == 1):
            yield "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points)
        yield text(right + 10, end + 4, curve.name, colour=colour)


def spread(curve: Curve, x: Axis, y: Axis, colour: str, band: bool, aside: float) -> Iterator[str]:
    edges = list(zip(curve.x, curve.low, curve.high, strict=True))
    if band:
        there = [f"{x(a):.1f},{y(low):.1f}" for a, low, _ in edges]
        back = [f"{x(a):.1f},{y(high):.1f}" for a, _, high in reversed(edges)]
        yield f'<polygon points="{" ".join(there + back)}" fill="{colour}" fill-opacity="0.15"/>'
        return
    for a, low, high in edges:
        if high > low:
            yield f'<path d="M{x(a) + aside:.1f} {y(low):.1f}V{y(high):.1f}" stroke="{colour}" stroke-opacity="0.6"/>'


def dots(title: str, y_title: str, panels: Sequence[Panel], other: str) -> str:
    """Panels of values with intervals, one a line; `other` says what the hollow marks are, "" where there are none."""
    room = 16 + LETTER * max((cells(dot.name) for panel in panels for dot in panel.dots), default=0)
    width, step = 260, 20
    columns = min(2, len(panels))
    most = max(len(panel.dots) for panel in panels)
    whole_width, whole_height = room + width + 14, TOP + step * most + BOTTOM
    body: list[str] = []
    for place, panel in enumerate(panels):
        left = (place % columns) * (whole_width + GAP) + room
        top = (place // columns) * (whole_height + GAP) + TOP + 18
        body += dot_panel(panel, left, top, width, step, y_title)
    rows = math.ceil(len(panels) / columns)
    high = rows * (whole_height + GAP) - GAP + 18
    if other:
        body.append(f'<circle cx="20" cy="{high + 4:.1f}" r="4" fill="none" stroke="{COLOURS[1]}" stroke-width="1.5"/>')
        body.append(text(30, high + 8, other, colour=FAINT))
        high += 20
    return document(title, columns * (whole_width + GAP) - GAP + 8, high, body)


def dot_panel(panel: Panel, left: float, top: float, width: float, step: float, y_title: str) -> Iterator[str]:
    values = [v for dot in panel.dots for v in (dot.low, dot.high, dot.y if dot.other is None else dot.other)]
    axis = Axis(*span(values), left, left + width)
    bottom = top + step * len(panel.dots)
    yield text(left, top - 12, panel.title, weight="600")
    for tick in axis.ticks():
        yield f'<path d="M{axis(tick):.1f} {top:.1f}V{bottom:.1f}" stroke="{EDGE}"/>'
        yield text(axis(tick), bottom + 17, number(tick), anchor="middle", colour=FAINT)
    yield f'<path d="M{left:.1f} {bottom:.1f}h{width}" stroke="{FAINT}"/>'
    yield text(left + width / 2, bottom + 35, y_title, anchor="middle", colour=FAINT)
    for place, dot in enumerate(panel.dots):
        y = top + step * (place + 0.5)
        yield text(left - 8, y + 4, dot.name, anchor="end")
        if dot.high > dot.low:
            yield f'<path d="M{axis(dot.low):.1f} {y:.1f}H{axis(dot.high):.1f}" stroke="{COLOURS[0]}" stroke-width="2"/>'
        yield f'<circle cx="{axis(dot.y):.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[0]}"/>'
        if dot.other is not None:
            ring = f'r="4" fill="none" stroke="{COLOURS[1]}" stroke-width="1.5"'
            yield f'<circle cx="{axis(dot.other):.1f}" cy="{y:.1f}" {ring}/>'


def extent(words: str) -> float:
    """How wide a label gets where the font is a wide one."""
    return 12 * WIDE_FONT * sum(letter(char, False).width for char in one_line(words) if cells(char)) / 1000


def text(x: float, y: float, words: str, anchor: str = "start", colour: str = INK, weight: str = "") -> str:
    bold = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{bold}>{escape(one_line(words))}</text>'
    )


def turned(x: float, y: float, words: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" transform="rotate(-90 {x:.1f} {y:.1f})" text-anchor="middle" fill="{FAINT}"'
    return f"<text {place}>{escape(one_line(words))}</text>"


def document(title: str, width: float, height: float, body: Sequence[str]) -> str:
    width = max(width, 24 + 1.3 * LETTER * cells(one_line(title)))  # the heading is larger than labels are
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" font-family="system-ui, sans-serif" font-size="12">'
    )
    named = f"<title>{escape(one_line(title))}</title>"
    ground = f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>'
    heading = text(12, 22, title, weight="600").replace("<text ", '<text font-size="14" ', 1)
    return "\n".join([head, named, ground, heading, *body, "</svg>", ""])
