"""A few values on each named line, one for every type: how large each term is, and for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from regard.report.axes import Axis, span
from regard.report.characters import cells, one_line
from regard.report.marks import Mark
from regard.report.panels import panels, upright
from regard.report.plots import EDGE, LETTER, text

STEP = 26


@dataclass(frozen=True)
class Strips:
    """One panel: for each line its name and the values by type."""

    title: str
    x_title: str
    lines: tuple[tuple[str, Mapping[str, float]], ...]


def strips(title: str, shown: Sequence[Strips], marks: Mapping[str, Mark]) -> str:
    """Panels with an axis each; the legend stands to the right of every one, so that it can be cut out."""
    size = (300.0, float(max(STEP * max(len(panel.lines) for panel in shown), 18 * len(marks))))
    names = [one_line(name) for panel in shown for name, _ in panel.lines]
    left, right = (LETTER * max(map(cells, found)) for found in (names, map(one_line, marks)))
    drawn = [partial(_panel, panel, marks, size[0]) for panel in shown]
    return panels(title, drawn, size, (left + 18, right + 36), headed=True)


def _panel(panel: Strips, marks: Mapping[str, Mark], width: float, left: float, top: float) -> Iterator[str]:
    bottom = top + STEP * len(panel.lines)
    x = Axis(*span([0.0, *(value for _, values in panel.lines for value in values.values())]), left, left + width)
    yield text(left, top - 12, panel.title, weight="600")
    yield from upright(x, top, bottom, panel.x_title)
    for place, (name, values) in enumerate(panel.lines):
        y = top + STEP * (place + 0.5)
        yield text(left - 10, y + 4, name, anchor="end")
        yield f'<path d="M{left:.1f} {y:.1f}h{width:g}" stroke="{EDGE}"/>'
        for kind, value in values.items():
            yield f'<path d="{marks[kind].path(x(value), y, 4.5)}" fill="{marks[kind].colour}" fill-opacity="0.85"/>'
    for place, (kind, mark) in enumerate(marks.items()):
        y = top + 8 + 18 * place
        yield f'<path d="{mark.path(left + width + 20, y, 4)}" fill="{mark.colour}"/>'
        yield text(left + width + 30, y + 4, kind)
