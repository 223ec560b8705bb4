"""The box plot: one named row per box with quartiles, the median as a bar, the mean as a mark, whiskers to the extremes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.report.plots.axis import Axis, span, value_axis
from regard.report.plots.marks import Mark
from regard.report.plots.svg import LETTER, label_width, panels, text
from regard.report.text.characters import cells, one_line

WIDTH = 400
ROW, THICK = 34, 16  # height of a row and of a box
LONG = 25  # cells


@dataclass(frozen=True)
class Box:
    name: str
    mark: Mark
    low: float
    q1: float
    median: float
    q3: float
    high: float
    mean: float


def boxes(title: str, x_title: str, shown: Sequence[Box]) -> str:
    """Positive values with a long tail (mean weights) get a logarithmic axis, which its name states."""
    log = min(box.low for box in shown) > 0 and max(box.high for box in shown) > 50 * max(box.median for box in shown)
    room = max(name_width(one_line(box.name)) for box in shown)
    named = f"{x_title}, logarithmic" if log else x_title
    overhang = (label_width(named) - WIDTH) / 2  # on both sides of the axis, if its name is longer
    height = ROW * len(shown)

    def draw(left: float, top: float) -> Iterator[str]:
        x = Axis(*span([value for box in shown for value in (box.low, box.high)], log), left, left + WIDTH, log)
        yield from value_axis(x, top, top + height, named)
        for number, box in enumerate(shown):
            yield from draw_box(box, x, top + ROW * (number + 0.5))

    return panels(title, [draw], (WIDTH, height), (max(room, overhang), max(14, overhang)), headed=False)


def name_width(name: str) -> float:
    """The margin absorbs wide letters, but not many of them."""
    room = 18 + LETTER * cells(name)
    return max(room, 10 + label_width(name)) if cells(name) > LONG else room


def draw_box(box: Box, x: Axis, y: float) -> Iterator[str]:
    low, q1, median, q3, high = map(x, (box.low, box.q1, box.median, box.q3, box.high))
    colour, half = box.mark.colour, THICK / 2
    yield text(x.start - 10, y + 4, box.name, anchor="end")
    ends = f"M{low:.1f} {y - 4:.1f}v8M{high:.1f} {y - 4:.1f}v8"
    yield f'<path d="M{low:.1f} {y:.1f}H{q1:.1f}M{q3:.1f} {y:.1f}H{high:.1f}{ends}" fill="none" stroke="{colour}"/>'
    shape = f'x="{q1:.1f}" y="{y - half:.1f}" width="{max(q3 - q1, 1):.1f}" height="{THICK}" rx="2"'
    yield f'<rect {shape} fill="{colour}" fill-opacity="0.22" stroke="{colour}"/>'
    yield f'<path d="M{median:.1f} {y - half:.1f}v{THICK}" stroke="{colour}" stroke-width="2.5"/>'
    yield f'<path d="{box.mark.path(x(box.mean), y, 3.4)}" fill="{colour}"/>'
