"""The figures of the kinds "scores" and "flow": tokens by polarity and attention score, a panel a model, and boxes.

They show the first seed that a model has, as the paper shows one; means and intervals over seeds stand in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from regard.report.axes import Axis, span
from regard.report.boxes import Box, boxes
from regard.report.characters import cells
from regard.report.marks import Mark, type_marks
from regard.report.panels import grid, panels
from regard.report.plots import FAINT, LEFT, LETTER, text

if TYPE_CHECKING:
    from regard.reproduce.results import Row
    from regard.reproduce.tables import Place, Table

WIDTH, HEIGHT, SIZE = 330.0, 230.0, 2.6
TYPE, POLARITY, ATTENTION, LOCAL_POLARITY, LOCAL_ATTENTION = 0, 1, 2, 4, 5  # of a row's tokens; 3 is the weight

EDGES = ("min", "q1", "median", "q3", "max", "mean")


def draw(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    """One scatter a corpus, and one figure of all boxes."""
    found = {}
    chosen = first_seeds(table, rows)
    for corpus in table.corpora.values():
        own = {table.title_of(place): row for place, row in chosen.items() if place[1] == corpus.name}
        if own:
            found[f"scores-{corpus.name}"] = clouds(f"Polarity and attention scores: {corpus.title}", own)
    weighed = [box for place, row in chosen.items() for box in weight_boxes(table, place, row)]
    if weighed:
        found["weights"] = boxes(f"{table.title}: mean weights on test", "mean attention weight", weighed)
    return found


def first_seeds(table: Table, rows: Sequence[Row]) -> dict[Place, Row]:
    by_place = table.by_place(row for row in rows if row.get("tokens"))
    return {place: min(several, key=lambda row: int(row["seed"])) for place, several in by_place.items()}


def clouds(title: str, rows: Mapping[str, Row]) -> str:
    """`rows`: what to call a model -> what was measured of it. One with local scores has two panels."""
    drawn = []
    names = [name for row in rows.values() for name in row["types"]]
    for name, row in rows.items():
        local = any(len(token) > LOCAL_ATTENTION for token in row["tokens"])
        drawn.append(partial(cloud, f"{name}, global scores" if local else name, row, POLARITY, ATTENTION))
        if local:
            drawn.append(partial(cloud, f"{name}, local scores", row, LOCAL_POLARITY, LOCAL_ATTENTION))
    return panels(title, drawn, (WIDTH, HEIGHT), (LEFT, 30 + LETTER * max(map(cells, names))), headed=True)


def cloud(title: str, row: Row, across: int, up: int, left: float, top: float) -> Iterator[str]:
    tokens = [token for token in row["tokens"] if token[across] is not None and token[up] is not None]
    x = Axis(*span([token[across] for token in tokens]), left, left + WIDTH)
    y = Axis(*span([token[up] for token in tokens]), top + HEIGHT, top)
    yield text(left, top - 12, title, weight="600")
    yield from grid(x, y, "polarity score", "attention score", LEFT)
    if x.start < x(0) < x.end:
        yield f'<path d="M{x(0):.1f} {top:.1f}v{HEIGHT}" stroke="{FAINT}"/>'
    marks = type_marks(row["types"])
    for place, name in reversed(list(enumerate(row["types"]))):  # neutral ones below the others
        mark: Mark = marks[name]
        path = "".join(mark.path(x(token[across]), y(token[up]), SIZE) for token in tokens if token[TYPE] == place)
        yield f'<path d="{path}" fill="{mark.colour}" fill-opacity="0.6"/>'
        yield f'<path d="{mark.path(left + WIDTH + 16, top + 6 + 18 * place, 4)}" fill="{mark.colour}"/>'
        yield text(left + WIDTH + 26, top + 10 + 18 * place, name)


def weight_boxes(table: Table, place: Place, row: Row) -> Iterator[Box]:
    marks = type_marks(row["types"])
    for name in row["types"]:
        told = row["boxes"].get(name)
        if told:
            title = f"{table.corpora[place[1]].title}, {table.title_of(place)}: {name}"
            yield Box(title, marks[name], *(told[edge] for edge in EDGES))
