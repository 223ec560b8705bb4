"""Accuracy against training time or prediction speed: an SVG whose marks can be pointed at and focused (leaderboard.js)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape

from board import Timed

from regard.report.plots.axis import Axis, number, span
from regard.report.plots.marks import Mark, type_marks
from regard.report.plots.svg import EDGE, FAINT, FONTS, rotated, text

WIDTH, HEIGHT = 352, 280
LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 14.0, 48.0
SIZE = 6.5  # of a mark
TARGET = 12  # radius of the invisible circle around a mark that can be pointed at


def marks_of(systems: Sequence[str]) -> dict[str, Mark]:
    """The same mark in every plot."""
    return {name: mark for name, mark in type_marks([*systems, ""]).items() if name}


def time_plot(
    label: str,
    x_title: str,
    shown: Sequence[Timed],
    value: Callable[[Timed], float],
    marks: Mapping[str, Mark],
    words: Callable[[Timed], str],
) -> str:
    """`words`: what is said about a system when its mark is pointed at or focused."""
    x = Axis(*span([value(one) for one in shown], log=True), LEFT, WIDTH - RIGHT, log=True)
    y = Axis(*span([one.accuracy for one in shown]), HEIGHT - BOTTOM, TOP)
    order = {name: number for number, name in enumerate(marks)}
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="group" aria-label="{escape(label)}" font-family="{FONTS}" font-size="12">'
    )
    body = [
        draw_mark(one, x(value(one)), y(one.accuracy), marks[one.system], order[one.system], words(one))
        for one in sorted(shown, key=value)
    ]
    return "\n".join([head, '<g aria-hidden="true">', *log_grid(x, y, x_title), "</g>", *body, "</svg>"])


def log_grid(x: Axis, y: Axis, title: str) -> Iterator[str]:
    for tick in y.ticks(5):
        yield f'<path d="M{x.start:.1f} {y(tick):.1f}H{x.end:.1f}" stroke="{EDGE}"/>'
        yield text(x.start - 6, y(tick) + 4, number(tick), "end", FAINT)
    for tick in x.ticks(5):
        yield f'<path d="M{x(tick):.1f} {y.start:.1f}V{y.end:.1f}" stroke="{EDGE}"/>'
        yield text(x(tick), y.start + 17, f"{tick:,.10g}", "middle", FAINT)
    yield f'<path d="M{x.start:.1f} {y.start:.1f}H{x.end:.1f}" stroke="{FAINT}"/>'
    yield text((x.start + x.end) / 2, y.start + 37, title, "middle", FAINT)
    yield rotated(11, (y.start + y.end) / 2, "accuracy in %")


def draw_mark(one: Timed, x: float, y: float, mark: Mark, system: int, words: str) -> str:
    drawn = f'<path d="{mark.path(x, y, SIZE)}" fill="{mark.colour}" stroke="#ffffff" stroke-width="1"/>'
    target = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{TARGET}" fill="transparent"/>'
    about = f'data-system="{system}" data-name="{escape(one.system)}" data-values="{escape(words)}"'
    label = escape(f"{one.system}: {words}")
    return f'<g class="mark" role="img" tabindex="0" {about} aria-label="{label}">{drawn}{target}</g>'
