"""The figures of the kind "purified": AOPC and post-hoc accuracy along K, accuracy along rounds, and texts in the plane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from regard.report.plots.axis import Axis, span
from regard.report.plots.lines import Curve, Panel, lines
from regard.report.plots.marks import type_marks
from regard.report.plots.scatter import Cloud, draw_clouds
from regard.report.plots.svg import LEFT, panels, text
from regard_lab.rendering.seed_curve import over_seeds

if TYPE_CHECKING:
    from regard_lab.running.results import Row
    from regard_lab.tables.table import Place, Table

CURVES = {"aopc": "fall of the judge's accuracy, points", "post_hoc": "the judge's accuracy, %"}
TITLES = {"aopc": "Without the top K words", "post_hoc": "With the top K words alone"}
SIZE, WIDE = 2.4, 230.0


def draw(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    """Of what the table's columns are about, and of texts where a row has them in the plane."""
    by_place = table.by_place(rows)
    shown = {measure for corpus in table.corpora.values() for measure in corpus.measures}
    about = [name for name in CURVES if any(measure.startswith(name) for measure in shown)]
    found = {f"along-k-{name}".replace("_", "-"): along_k(table, by_place, name) for name in about}
    if any(measure.startswith("round_") for measure in shown):
        found["rounds"] = along_rounds(table, by_place)
    for corpus in table.corpora.values():
        found[f"map-{corpus.name}"] = maps(table, by_place, corpus.name)
    return {name: svg for name, svg in found.items() if svg}


def along_k(table: Table, by_place: Mapping[Place, Sequence[Row]], name: str) -> str:
    """A panel a corpus: every method, and words by chance."""
    drawn = []
    for corpus in table.corpora.values():
        curves, chance = [], None
        for place, rows in by_place.items():
            known = [row for row in rows if place[1] == corpus.name and name in row.get("curves", {})]
            if known and not known[0]["options"].get("chance"):
                curves.append(shares(table.title_of(place), known[0]["cuts"], [row["curves"][name] for row in known]))
            if known:
                chance = shares("by chance", known[0]["cuts"], [row["curves"][f"{name}_random"] for row in known])
        if chance is not None:
            drawn.append(Panel(corpus.title, (*curves, chance)))
    return lines(TITLES[name], "K", CURVES[name], drawn, band=True, whole=True) if drawn else ""


def along_rounds(table: Table, by_place: Mapping[Place, Sequence[Row]]) -> str:
    """Accuracy after each round, where models were looked at."""
    drawn = []
    for corpus in table.corpora.values():
        curves = []
        for place, rows in by_place.items():
            known = [row for row in rows if place[1] == corpus.name and "round_0" in row["values"]]
            if known:
                last = min(max(k for k in range(100) if f"round_{k}" in row["values"]) for row in known)
                paths = [[row["values"][f"round_{k}"] for k in range(last + 1)] for row in known]
                curves.append(shares(table.title_of(place), range(last + 1), paths))
        drawn += [Panel(corpus.title, tuple(curves))] if curves else []
    return lines("Accuracy after each round", "round", "accuracy, %", drawn, band=True, whole=True) if drawn else ""


def shares(name: str, x: Sequence[float], paths: Sequence[Sequence[float]]) -> Curve:
    """As per cent, a path a seed."""
    return over_seeds(name, x, [[100 * path[k] for path in paths] for k in range(len(x))])


def maps(table: Table, by_place: Mapping[Place, Sequence[Row]], corpus: str) -> str:
    """Each text a point, its class a colour and a shape."""
    drawn = []
    for place, rows in by_place.items():
        for row in rows:
            if place[1] == corpus and "map" in row:
                for name, points in row["map"]["points"].items():
                    title = ", ".join(filter(None, (table.title_of(place), name)))
                    drawn.append(partial(cloud, title, points, row["map"]["labels"]))
    heading = f"Texts in the plane: {table.corpora[corpus].title}"
    return panels(heading, drawn, (WIDE, WIDE), (LEFT, 20), headed=True) if drawn else ""


def cloud(
    title: str, points: Sequence[Sequence[float]], labels: Sequence[int], left: float, top: float
) -> Iterator[str]:
    """Axes mean nothing here, and have no numbers."""
    x = Axis(*span([point[0] for point in points]), left, left + WIDE)
    y = Axis(*span([point[1] for point in points]), top + WIDE, top)
    yield text(left, top - 12, title, weight="600")
    names = [str(label) for label in sorted(set(labels))]
    marks = type_marks([*names, "neutral"])
    clouds = [
        Cloud(
            name, marks[name], tuple((a, b) for (a, b), own in zip(points, labels, strict=True) if own == label), SIZE
        )
        for label, name in enumerate(names)
    ]
    yield from draw_clouds(clouds, x, y, legend=False)
