"""The figures of the kinds "scores" and "flow": tokens by polarity and attention score, a panel a model, and boxes.

They show the first seed that a model has, as the paper shows one; means and intervals over seeds stand in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from regard.report.plots.axis import Axis, grid, span
from regard.report.plots.boxes import Box, boxes
from regard.report.plots.marks import type_marks
from regard.report.plots.scatter import Cloud, draw_clouds
from regard.report.plots.svg import LEFT, LETTER, panels, text
from regard.report.text.characters import cells

if TYPE_CHECKING:
    from regard_lab.running.results import Row
    from regard_lab.tables.table import Place, Table

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
    yield from grid(x, y, ("polarity score", "attention score"), LEFT)
    marks = type_marks(row["types"])
    clouds = [
        Cloud(name, marks[name], tuple((token[across], token[up]) for token in tokens if token[TYPE] == place), SIZE)
        for place, name in enumerate(row["types"])
    ]
    yield from draw_clouds(clouds[::-1], x, y)  # neutral ones below the others


def weight_boxes(table: Table, place: Place, row: Row) -> Iterator[Box]:
    marks = type_marks(row["types"])
    for name in row["types"]:
        told = row["boxes"].get(name)
        if told:
            title = f"{table.corpora[place[1]].title}, {table.title_of(place)}: {name}"
            yield Box(title, marks[name], *(told[edge] for edge in EDGES))
