"""The histogram: how many texts have which value, with named values marked by a vertical line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from regard.report.plots.axis import Axis, grid, tick_room
from regard.report.plots.svg import COLOURS, FAINT, panels, text

SIZE = (330.0, 170.0)
BINS = 20


@dataclass(frozen=True)
class Histogram:
    """Bars of equal width from `low` to `high`; each of `marked` has a line and a name."""

    title: str
    low: float
    high: float
    counts: tuple[int, ...]
    marked: tuple[tuple[float, str], ...] = ()


def histogram(title: str, values: Sequence[float], low: float, high: float) -> Histogram:
    """The histogram of one value per text, with a line at the mean."""
    counts = [0] * BINS
    for value in values:
        counts[min(max(int((value - low) / (high - low) * BINS), 0), BINS - 1)] += 1
    return Histogram(title, low, high, tuple(counts), ((sum(values) / len(values), "mean"),))


def histograms(title: str, x_title: str, y_title: str, shown: Sequence[Histogram]) -> str:
    """Panels with separate axes."""
    room = tick_room([(0.0, float(max(one.counts)) or 1.0) for one in shown])
    drawn = [partial(draw_histogram, one, room, (x_title, y_title)) for one in shown]
    return panels(title, drawn, SIZE, (room, 14), headed=any(one.title for one in shown))


def draw_histogram(shown: Histogram, room: float, titles: tuple[str, str], left: float, top: float) -> Iterator[str]:
    bottom = top + SIZE[1]
    x = Axis(shown.low, shown.high, left, left + SIZE[0])
    y = Axis(0.0, 1.12 * max(*shown.counts, 1), bottom, top)
    if shown.title:
        yield text(left, top - 12, shown.title, weight="600")
    yield from grid(x, y, titles, room)
    step = SIZE[0] / len(shown.counts)
    for number, count in enumerate(shown.counts):
        if count:
            bar = f'x="{left + step * number + 0.5:.1f}" y="{y(count):.1f}" width="{step - 1:.1f}"'
            yield f'<rect {bar} height="{bottom - y(count):.1f}" fill="{COLOURS[0]}" fill-opacity="0.75"/>'
    for number, (value, name) in enumerate(sorted(shown.marked)):
        yield f'<path d="M{x(value):.1f} {top:.1f}V{bottom:.1f}" stroke="{FAINT}" stroke-dasharray="4 3"/>'
        leftwards = x(value) > left + SIZE[0] * (0.35 if len(shown.marked) > 1 and number == 0 else 0.7)
        yield text(x(value) + (-5 if leftwards else 5), top + 10 + 14 * number, name, "end" if leftwards else "start")
