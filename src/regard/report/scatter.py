"""Tokens by polarity and attention score as plain SVG, as the figures of Sun & Lu have them: one path a type, few bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.report.axes import Axis, number
from regard.report.characters import cells, one_line, shortened
from regard.report.marks import Mark
from regard.report.panels import grid, panels, tick_room
from regard.report.plots import FAINT, INK, LETTER, text

Point = tuple[float, float]
Span = tuple[float, float]
NAME = 30  # cells of a word that are written


@dataclass(frozen=True)
class Cloud:
    """The points of one type; clouds are drawn in their order, the last on top."""

    name: str
    mark: Mark
    points: tuple[Point, ...]


def scatter(
    title: str,
    x_title: str,
    y_title: str,
    clouds: Sequence[Cloud],
    spans: tuple[Span, Span],
    words: Sequence[tuple[str, Point]] = (),
) -> str:
    """`words` are written beside their points, the first ones first, where there is room."""
    width, height = 620.0, 380.0
    room = 30 + LETTER * max((cells(_legend(cloud)) for cloud in clouds), default=0)

    side = tick_room([spans[1]])

    def draw(left: float, top: float) -> Iterator[str]:
        x = Axis(*spans[0], left, left + width)
        y = Axis(*spans[1], top + height, top)
        yield from grid(x, y, x_title, y_title, side)
        if spans[0][0] < 0 < spans[0][1]:
            yield f'<path d="M{x(0):.1f} {top:.1f}v{height}" stroke="{FAINT}"/>'
        for place, cloud in enumerate(clouds):
            size, faint = (3.0, 0.62) if len(cloud.points) < 800 else (2.4, 0.5)
            drawn = "".join(cloud.mark.path(x(a), y(b), size) for a, b in cloud.points)
            yield f'<path d="{drawn}" fill="{cloud.mark.colour}" fill-opacity="{faint}"/>'
            line = top + 6 + 18 * (len(clouds) - 1 - place)
            yield f'<path d="{cloud.mark.path(left + width + 16, line, 4)}" fill="{cloud.mark.colour}"/>'
            yield text(left + width + 26, line + 4, _legend(cloud))
        yield from _words(words, x, y)

    return panels(title, [draw], (width, height), (side, room), headed=False)


def _legend(cloud: Cloud) -> str:
    return f"{one_line(cloud.name)} ({number(len(cloud.points))})"


def _words(words: Sequence[tuple[str, Point]], x: Axis, y: Axis) -> Iterator[str]:
    taken: list[tuple[float, float, float]] = []  # left, right, baseline
    for whole, (a, b) in words:
        word = shortened(whole, NAME)
        wide, line = LETTER * cells(word), y(b) + 4
        left = x(a) + 6 if x(a) > (x.start + x.end) / 2 else x(a) - 6 - wide  # outwards, where fewer points are
        if left < x.start or left + wide > x.end:
            left = 2 * x(a) - left - wide
        right = left + wide
        if any(left < end and start < right and abs(line - other) < 13 for start, end, other in taken):
            continue
        taken.append((left, right, line))
        halo = 'paint-order="stroke" stroke="#ffffff" stroke-width="3" stroke-linejoin="round"'
        yield text(left, line, word, colour=INK).replace("<text ", f"<text {halo} ", 1)
