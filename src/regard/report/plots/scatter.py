"""The scatter plot: clouds of points by type, one path per cloud; or few points with an interval in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from regard.report.plots.axis import Axis, grid, number, span, tick_room
from regard.report.plots.marks import Mark, legend_entry
from regard.report.plots.svg import COLOURS, FAINT, INK, LETTER, label_width, panels, text
from regard.report.text.characters import cells, one_line, shortened

Point = tuple[float, float]
Span = tuple[float, float]
Ends = tuple[float, float, float]  # a value and the ends of its interval
WORD = 30  # cells of a word that are written
CROSSES = (440.0, 260.0)  # size of the panel
LINE = 13.0  # height of a label


@dataclass(frozen=True)
class Cloud:
    """The points of one type; clouds are drawn in their order, the last one on top."""

    name: str
    mark: Mark
    points: tuple[Point, ...]
    size: float = 0.0  # of a mark; 0: by the number of points
    opacity: float = 0.6


@dataclass(frozen=True)
class Cross:
    name: str
    x: Ends
    y: Ends


def scatter(
    title: str,
    x_title: str,
    y_title: str,
    clouds: Sequence[Cloud],
    spans: tuple[Span, Span],
    words: Sequence[tuple[str, Point]] = (),
) -> str:
    """`words` are written next to their points if there is room; the first ones take precedence."""
    width, height = 620.0, 380.0
    shown = [counted(cloud) for cloud in clouds]
    right = 30 + LETTER * max((cells(cloud.name) for cloud in shown), default=0)
    room = tick_room([spans[1]])

    def draw(left: float, top: float) -> Iterator[str]:
        x = Axis(*spans[0], left, left + width)
        y = Axis(*spans[1], top + height, top)
        yield from grid(x, y, (x_title, y_title), room)
        yield from draw_clouds(shown, x, y)
        yield from draw_words(words, x, y)

    return panels(title, [draw], (width, height), (room, right), headed=False)


def counted(cloud: Cloud) -> Cloud:
    """With the number of points in the legend, and marks that fit the number."""
    size, opacity = (3.0, 0.62) if len(cloud.points) < 800 else (2.4, 0.5)
    return replace(cloud, name=f"{one_line(cloud.name)} ({number(len(cloud.points))})", size=size, opacity=opacity)


def draw_clouds(clouds: Sequence[Cloud], x: Axis, y: Axis, legend: bool = True) -> Iterator[str]:
    """A vertical line at zero, the points, and the legend on the right: the cloud on top comes first."""
    if legend and x.low < 0 < x.high:
        yield f'<path d="M{x(0):.1f} {y.end:.1f}v{y.start - y.end}" stroke="{FAINT}"/>'
    for index, cloud in enumerate(clouds):
        drawn = "".join(cloud.mark.path(x(a), y(b), cloud.size) for a, b in cloud.points)
        yield f'<path d="{drawn}" fill="{cloud.mark.colour}" fill-opacity="{cloud.opacity}"/>'
        if legend:
            yield from legend_entry(cloud.mark, cloud.name, x.end + 16, y.end + 6 + 18 * (len(clouds) - 1 - index))


def draw_words(words: Sequence[tuple[str, Point]], x: Axis, y: Axis) -> Iterator[str]:
    taken: list[tuple[float, float, float]] = []  # left, right, baseline
    for whole, (a, b) in words:
        word = shortened(whole, WORD)
        width, line = LETTER * cells(word), y(b) + 4
        left = x(a) + 6 if x(a) > (x.start + x.end) / 2 else x(a) - 6 - width  # outwards, where there are fewer points
        if left < x.start or left + width > x.end:
            left = 2 * x(a) - left - width
        right = left + width
        if any(left < end and start < right and abs(line - other) < LINE for start, end, other in taken):
            continue
        taken.append((left, right, line))
        halo = 'paint-order="stroke" stroke="#ffffff" stroke-width="3" stroke-linejoin="round"'
        yield text(left, line, word, colour=INK).replace("<text ", f"<text {halo} ", 1)


def crosses(title: str, x_title: str, y_title: str, shown: Sequence[Cross]) -> str:
    """Points joined in their order, each with its name: what one quantity costs in terms of another."""
    across, up = (span([0.0, *(value for one in shown for value in (one.x, one.y)[side])]) for side in (0, 1))
    room = tick_room([up])

    def draw(left: float, top: float) -> Iterator[str]:
        x = Axis(*across, left, left + CROSSES[0])
        y = Axis(*up, top + CROSSES[1], top)
        yield from grid(x, y, (x_title, y_title), room)
        points = " ".join(f"{x(one.x[0]):.1f},{y(one.y[0]):.1f}" for one in shown)
        yield f'<polyline points="{points}" fill="none" stroke="{COLOURS[0]}" stroke-dasharray="7 3"/>'
        yield from draw_crosses(shown, x, y)

    return panels(title, [draw], CROSSES, (room, 20), headed=False)


def draw_crosses(shown: Sequence[Cross], x: Axis, y: Axis) -> Iterator[str]:
    named: list[tuple[float, float, float]] = []  # left, right, baseline
    for index, one in enumerate(shown):
        a, b = x(one.x[0]), y(one.y[0])
        path = f"M{x(one.x[1]):.1f} {b:.1f}H{x(one.x[2]):.1f}M{a:.1f} {y(one.y[1]):.1f}V{y(one.y[2]):.1f}"
        yield f'<path d="{path}" stroke="{COLOURS[0]}" stroke-width="2"/>'
        yield f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{COLOURS[0]}"/>'
        # alternately above and below, and farther away if there is already a name: points may be close together
        line, step = (y(one.y[1]) + 15, LINE) if index % 2 else (y(one.y[2]) - 6, -LINE)
        start, end = a - label_width(one.name) / 2, a + label_width(one.name) / 2
        while any(start < right and left < end and abs(line - other) < LINE for left, right, other in named):
            line += step
        named.append((start, end, line))
        yield text(a, line, one.name, "middle")
