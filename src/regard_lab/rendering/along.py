"""The figure kind "along": several values of the history in one panel along training, a panel for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from regard.report.plots.lines import Curve, Panel, lines
from regard_lab.kinds.recorded import MOMENTS
from regard_lab.rendering.figures import numbers
from regard_lab.rendering.seed_curve import over_seeds
from regard_lab.running.results import Row
from regard_lab.tables.table import Figure, Place, Table

SMALL = 0.01  # a figure whose values are all smaller shows their thousandfold


def draw_along(table: Table, figure: Figure, title: str, rows: Mapping[Place, Sequence[Row]]) -> str:
    """Mean and 95 % band over seeds, at the moments that every seed has."""
    panels = []
    for place, several in rows.items():
        curves = []
        for value in figure.values:
            paths = [path for row in several if (path := by_moment(row.get("history", {}), value))]
            if paths:
                common = sorted(set.intersection(*map(set, paths)))  # a long path is thinned: not all have all moments
                values = [[path[moment] for path in paths] for moment in common]
                curves.append(over_seeds(named(value, figure.values), common, values))
        if curves:
            panels.append(Panel(f"{table.corpora[place[1]].title}, {table.title_of(place)}", tuple(curves)))
    name = figure.axis or figure.values[0].partition(".")[0]
    if panels and max(abs(y) for panel in panels for one in panel.curves for y in one.y) < SMALL:
        panels, name = [thousandfold(panel) for panel in panels], f"{name}, × 10⁻³"
    return lines(title, "epoch", name, panels, band=True) if panels else ""


def thousandfold(panel: Panel) -> Panel:
    """Short numbers on the axis."""
    return replace(panel, curves=tuple(larger(one) for one in panel.curves))


def larger(one: Curve) -> Curve:
    y, low, high = (tuple(1000 * value for value in values) for values in (one.y, one.low, one.high))
    return replace(one, y=y, low=low, high=high)


def by_moment(history: Mapping[str, Sequence[float]], value: str) -> dict[float, float]:
    """A path by the epochs at which it was looked at; without such, by epochs from 1 on."""
    path, at = numbers(history.get(value, ())), numbers(history.get(MOMENTS, ()))
    return dict(zip(at if len(at) >= len(path) else range(1, len(path) + 1), path, strict=False))


def named(value: str, among: Sequence[str]) -> str:
    """A value by what tells it from the others: its type of token, with its term where there are several."""
    kind, _, of = value.partition(".")
    several = len({other.partition(".")[0] for other in among}) > 1
    return ", ".join(filter(None, (kind.removeprefix("term_") if several or not of else "", of)))
