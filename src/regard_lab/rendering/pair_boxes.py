"""The figure kind "pairs": dot-products of tokens by pair of types, as boxes (Sun & Lu, supplement, Figures 2, 8 and 11).

Of the first seed, as the paper shows one; of an affine layer's representations too, where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from regard.report.plots.boxes import Box, boxes
from regard.report.plots.marks import type_marks
from regard_lab.kinds.scores_drawn import EDGES
from regard_lab.running.results import Row
from regard_lab.tables.table import Figure, Place, Table


def draw_pairs(table: Table, figure: Figure, title: str, rows: Mapping[Place, Sequence[Row]]) -> str:
    found = [box for place, several in rows.items() for box in of_model(table, place, several, len(rows) > 1)]
    return boxes(title, figure.axis or "dot-product of two tokens", found) if found else ""


def of_model(table: Table, place: Place, rows: Sequence[Row], several: bool) -> Iterator[Box]:
    """In the colour of the pair's first type, named by the model too where there are several."""
    row = min(rows, key=lambda row: int(row["seed"]))
    marks = type_marks(row["types"]) if "types" in row else {}
    for pair, told in row.get("pairs", {}).items():
        of = f"{table.corpora[place[1]].title}, {table.title_of(place)}: " if several else ""
        yield Box(of + pair, marks[pair.partition("-")[0]], *(told[edge] for edge in EDGES))
