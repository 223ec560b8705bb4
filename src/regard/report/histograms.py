"""How many texts have which value: panels of bars, with named places marked by a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from regard.report.axes import Axis
from regard.report.panels import grid, panels, tick_room
from regard.report.plots import COLOURS, FAINT, text

SIZE = (330.0, 170.0)
BINS = 20


@dataclass(frozen=True)
class Histogram:
    """Bars of one width from `low` to `high`; `places` have a line and a name each."""

    title: str
    low: float
    high: float
    counts: tuple[int, ...]
    places: tuple[tuple[float, str], ...] = ()


def histogram(title: str, values: Sequence[float], low: float, high: float) -> Histogram:
    """Of one value a text, with a line at their mean."""
    counts = [0] * BINS
    for value in values:
        counts[min(max(int((value - low) / (high - low) * BINS), 0), BINS - 1)] += 1
    return Histogram(title, low, high, tuple(counts), ((sum(values) / len(values), "mean"),))


def histograms(title: str, x_title: str, y_title: str, shown: Sequence[Histogram]) -> str:
    """Each with axes of its own."""
    room = tick_room([(0.0, float(max(one.counts)) or 1.0) for one in shown])
    drawn = [partial(_panel, one, room, x_title, y_title) for one in shown]
    return panels(title, drawn, SIZE, (room, 14), headed=any(one.title for one in shown))


def _panel(shown: Histogram, room: float, x_title: str, y_title: str, left: float, top: float) -> Iterator[str]:
    bottom = top + SIZE[1]
    x = Axis(shown.low, shown.high, left, left + SIZE[0])
    y = Axis(0.0, 1.12 * max(*shown.counts, 1), bottom, top)
    if shown.title:
        yield text(left, top - 12, shown.title, weight="600")
    yield from grid(x, y, x_title, y_title, room)
    step = SIZE[0] / len(shown.counts)
    for place, count in enumerate(shown.counts):
        if count:
            box = f'x="{left + step * place + 0.5:.1f}" y="{y(count):.1f}" width="{step - 1:.1f}"'
            yield f'<rect {box} height="{bottom - y(count):.1f}" fill="{COLOURS[0]}" fill-opacity="0.75"/>'
    for place, (value, name) in enumerate(sorted(shown.places)):
        yield f'<path d="M{x(value):.1f} {top:.1f}V{bottom:.1f}" stroke="{FAINT}" stroke-dasharray="4 3"/>'
        leftwards = x(value) > left + SIZE[0] * (0.35 if len(shown.places) > 1 and place == 0 else 0.7)
        yield text(x(value) + (-5 if leftwards else 5), top + 10 + 14 * place, name, "end" if leftwards else "start")
