"""The dot plot: named rows with a value and its interval each, or with one value per type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from regard.report.plots.axis import Axis, number, span, value_axis
from regard.report.plots.marks import Mark, legend_entry
from regard.report.plots.svg import COLOURS, EDGE, FAINT, GAP, arrange, document, longest_label, panels, text

WIDTH, ROW = 260.0, 20  # of a panel of dots
COLUMNS = 2
TYPES_ROW = 26  # of a panel of values per type


@dataclass(frozen=True)
class Dot:
    """A value with its interval, and optionally another value to compare with as a hollow mark."""

    name: str
    y: float
    low: float
    high: float
    other: float | None = None


@dataclass(frozen=True)
class DotPanel:
    title: str
    dots: tuple[Dot, ...]
    reach: tuple[float, ...] = ()  # values that the axis includes in any case


@dataclass(frozen=True)
class TypePanel:
    """For each row its name and the values by type."""

    title: str
    x_title: str
    rows: tuple[tuple[str, Mapping[str, float]], ...]


def dots(title: str, y_title: str, shown: Sequence[DotPanel], other: str) -> str:
    """`other` is the legend of the hollow marks; "" if there are none."""
    room = 16 + longest_label(dot.name for panel in shown for dot in panel.dots)
    lengths = [len(panel.dots) for panel in shown]
    size = (WIDTH, float(ROW * max(lengths)))
    drawn = [partial(dot_panel, panel, y_title) for panel in shown]
    body, width, height = arrange(drawn, size, (room, 14), True, COLUMNS, GAP)
    last = lengths[(len(lengths) - 1) // COLUMNS * COLUMNS :]  # they may be lower than the others
    height -= ROW * (max(lengths) - max(last))
    if other:
        ring = f'r="4" fill="none" stroke="{COLOURS[1]}" stroke-width="1.5"'
        body += [f'<circle cx="20" cy="{height + 4:.1f}" {ring}/>', text(30, height + 8, other, colour=FAINT)]
        height += 20
    return document(title, width, height, body)


def dot_panel(panel: DotPanel, y_title: str, left: float, top: float) -> Iterator[str]:
    values = [v for dot in panel.dots for v in (dot.low, dot.high, dot.y if dot.other is None else dot.other)]
    axis = Axis(*span([*panel.reach, *values]), left, left + WIDTH)
    bottom = top + ROW * len(panel.dots)
    yield text(left, top - 12, panel.title, weight="600")
    for tick in axis.ticks():
        yield f'<path d="M{axis(tick):.1f} {top:.1f}V{bottom:.1f}" stroke="{EDGE}"/>'
        yield text(axis(tick), bottom + 17, number(tick), anchor="middle", colour=FAINT)
    yield f'<path d="M{left:.1f} {bottom:.1f}h{WIDTH:g}" stroke="{FAINT}"/>'
    yield text(left + WIDTH / 2, bottom + 35, y_title, anchor="middle", colour=FAINT)
    for index, dot in enumerate(panel.dots):
        y = top + ROW * (index + 0.5)
        yield text(left - 8, y + 4, dot.name, anchor="end")
        if dot.high > dot.low:
            yield f'<path d="M{axis(dot.low):.1f} {y:.1f}H{axis(dot.high):.1f}" stroke="{COLOURS[0]}" stroke-width="2"/>'
        yield f'<circle cx="{axis(dot.y):.1f}" cy="{y:.1f}" r="4" fill="{COLOURS[0]}"/>'
        if dot.other is not None:
            ring = f'r="4" fill="none" stroke="{COLOURS[1]}" stroke-width="1.5"'
            yield f'<circle cx="{axis(dot.other):.1f}" cy="{y:.1f}" {ring}/>'


def dots_by_type(title: str, shown: Sequence[TypePanel], marks: Mapping[str, Mark]) -> str:
    """Panels with an axis each; each has the legend on its right, so that it can be cut out."""
    size = (300.0, float(max(TYPES_ROW * max(len(panel.rows) for panel in shown), 18 * len(marks))))
    left, right = longest_label(name for panel in shown for name, _ in panel.rows), longest_label(marks)
    drawn = [partial(type_panel, panel, marks, size[0]) for panel in shown]
    return panels(title, drawn, size, (left + 18, right + 36), headed=True)


def type_panel(panel: TypePanel, marks: Mapping[str, Mark], width: float, left: float, top: float) -> Iterator[str]:
    bottom = top + TYPES_ROW * len(panel.rows)
    x = Axis(*span([0.0, *(value for _, values in panel.rows for value in values.values())]), left, left + width)
    yield text(left, top - 12, panel.title, weight="600")
    yield from value_axis(x, top, bottom, panel.x_title)
    for index, (name, values) in enumerate(panel.rows):
        y = top + TYPES_ROW * (index + 0.5)
        yield text(left - 10, y + 4, name, anchor="end")
        yield f'<path d="M{left:.1f} {y:.1f}h{width:g}" stroke="{EDGE}"/>'
        for kind, value in values.items():
            yield f'<path d="{marks[kind].path(x(value), y, 4.5)}" fill="{marks[kind].colour}" fill-opacity="0.85"/>'
    for index, (kind, mark) in enumerate(marks.items()):
        yield from legend_entry(mark, kind, left + width + 20, top + 8 + 18 * index)
