"""Figures of the kinds "scores", "flow", "debate" and "purified"; `weights` draws its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from regard.report.plots.axis import Axis, grid, span
from regard.report.plots.boxes import Box, boxes
from regard.report.plots.lines import Curve, Panel, lines
from regard.report.plots.marks import type_marks
from regard.report.plots.scatter import Cloud, draw_clouds
from regard.report.plots.svg import LEFT, LETTER, panels, text
from regard.report.text.characters import cells
from regard_lab.measures import value_of
from regard_lab.statistics import interval, over_seeds

if TYPE_CHECKING:
    from regard_lab.rows import Place, Row
    from regard_lab.tables.table import Table


WIDTH, HEIGHT, TOKEN_SIZE = 330.0, 230.0, 2.6
TYPE, POLARITY, ATTENTION, LOCAL_POLARITY, LOCAL_ATTENTION = 0, 1, 2, 4, 5  # of a row's tokens; 3 is the weight

EDGES = ("min", "q1", "median", "q3", "max", "mean")


def draw_scores(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    """One scatter a corpus, and one figure of all boxes."""
    found = {}
    chosen = first_seeds(table, rows)
    for corpus in table.corpora.values():
        own = {table.title_of(place): row for place, row in chosen.items() if place[1] == corpus.name}
        if own:
            found[f"scores-{corpus.name}"] = scores_figure(f"Polarity and attention scores: {corpus.title}", own)
    weighed = [box for place, row in chosen.items() for box in weight_boxes(table, place, row)]
    if weighed:
        found["weights"] = boxes(f"{table.title}: mean weights on test", "mean attention weight", weighed)
    return found


def first_seeds(table: Table, rows: Sequence[Row]) -> dict[Place, Row]:
    by_place = table.by_place(row for row in rows if row.get("tokens"))
    return {place: min(several, key=lambda row: int(row["seed"])) for place, several in by_place.items()}


def scores_figure(title: str, rows: Mapping[str, Row]) -> str:
    """`rows`: what to call a model -> what was measured of it. One with local scores has two panels."""
    drawn = []
    names = [name for row in rows.values() for name in row["types"]]
    for name, row in rows.items():
        local = any(len(token) > LOCAL_ATTENTION for token in row["tokens"])
        drawn.append(partial(scores_panel, f"{name}, global scores" if local else name, row, POLARITY, ATTENTION))
        if local:
            drawn.append(partial(scores_panel, f"{name}, local scores", row, LOCAL_POLARITY, LOCAL_ATTENTION))
    return panels(title, drawn, (WIDTH, HEIGHT), (LEFT, 30 + LETTER * max(map(cells, names))), headed=True)


def scores_panel(title: str, row: Row, across: int, up: int, left: float, top: float) -> Iterator[str]:
    tokens = [
        (token[TYPE], (x, y))
        for token in row["tokens"]
        if (x := token[across]) is not None and (y := token[up]) is not None
    ]
    x_axis = Axis(*span([point[0] for _, point in tokens]), left, left + WIDTH)
    y_axis = Axis(*span([point[1] for _, point in tokens]), top + HEIGHT, top)
    yield text(left, top - 12, title, weight="600")
    yield from grid(x_axis, y_axis, ("polarity score", "attention score"), LEFT)
    marks = type_marks(row["types"])
    clouds = [
        Cloud(name, marks[name], tuple(point for type_, point in tokens if type_ == place), TOKEN_SIZE)
        for place, name in enumerate(row["types"])
    ]
    yield from draw_clouds(clouds[::-1], x_axis, y_axis)  # neutral ones below the others


def weight_boxes(table: Table, place: Place, row: Row) -> Iterator[Box]:
    marks = type_marks(row["types"])
    for name in row["types"]:
        told = row["boxes"].get(name)
        if told:
            title = f"{table.corpora[place[1]].title}, {table.title_of(place)}: {name}"
            yield Box(title, marks[name], *(told[edge] for edge in EDGES))


PAIRS = {  # the gradient is that of Jain & Wallace, the weights held
    "held": "attention, gradient",
    "leave_one_out": "attention, leaving out",
    "between": "gradient, leaving out",
    "random": "attention, chance",
}
FEWEST = 5  # texts of a group whose mean is drawn


def draw_debate(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    by_place = table.by_place(rows)
    found = {
        "tau": taus(table, by_place),
        "permuted": permuted(table, by_place),
        "adversaries": adversaries(table, by_place),
    }
    return {name: svg for name, svg in found.items() if svg}


def taus(table: Table, by_place: Mapping[Place, Sequence[Row]]) -> str:
    """A panel a model: the share of texts in each bin of τ, for attention with each measure, and of two measures."""
    drawn = []
    for place, rows in by_place.items():
        curves = []
        for name, title in PAIRS.items():
            counts = [row["histograms"][name] for row in rows if name in row.get("histograms", {})]
            if counts:
                bins = len(counts[0])
                middles = [(2 * k + 1) / bins - 1 for k in range(bins)]
                shares = [[100 * n / max(sum(own), 1) for n in own] for own in counts]
                curves.append(over_seeds(title, middles, list(zip(*shares, strict=True))))
        if curves:
            drawn.append(Panel(f"{table.corpora[place[1]].title}, {table.title_of(place)}", tuple(curves)))
    return lines("Kendall's τ, text by text", "τ", "% of texts", drawn, band=True) if drawn else ""


def permuted(table: Table, by_place: Mapping[Place, Sequence[Row]]) -> str:
    """A panel a corpus, a line a model: the mean over a group of texts, by the middle of the group's largest weights."""
    drawn = []
    for corpus in table.corpora.values():
        curves = []
        for place, rows in by_place.items():
            groups: dict[float, list[float]] = {}
            for group in (group for row in rows if place[1] == corpus.name for group in row.get("by_largest", ())):
                if group["n"] >= FEWEST:
                    groups.setdefault((group["from"] + group["to"]) / 2, []).append(group["moved"])
            if groups:
                x = sorted(groups)
                curves.append(over_seeds(table.title_of(place), x, [groups[middle] for middle in x]))
        drawn += [Panel(corpus.title, tuple(curves))] if curves else []
    title = "Weights permuted: how far answers move (TVD, median of a text)"
    return lines(title, "largest weight of a text", "TVD", drawn, band=False) if drawn else ""


def adversaries(table: Table, by_place: Mapping[Place, Sequence[Row]]) -> str:
    """A panel a corpus: trained adversaries as one line along λ, everything else that has both as a point."""
    drawn = []
    for corpus in table.corpora.values():
        line: list[tuple[float, list[float]]] = []
        points = []
        for place, rows in by_place.items():
            of_both = ((value_of(row, "jsd"), value_of(row, "tvd")) for row in rows if place[1] == corpus.name)
            known = [(jsd, tvd) for jsd, tvd in of_both if jsd is not None and tvd is not None]
            mean = interval([jsd for jsd, _ in known])
            if mean is None:
                continue
            answers = [tvd for _, tvd in known]
            if "factor" in rows[0]["options"]:
                line.append((mean.mean, answers))
            else:
                points.append(over_seeds(table.title_of(place), [mean.mean], [answers]))
        line.sort(key=lambda point: point[0])
        if line:
            points.insert(0, over_seeds("trained adversaries", [x for x, _ in line], [several for _, several in line]))
        drawn += [Panel(corpus.title, tuple(points))] if points else []
    title = "How far answers lie apart where weights do, from the model of the same seed"
    return lines(title, "JSD of weights", "TVD of answers", drawn, band=False) if drawn else ""


CURVES = {"aopc": "fall of the judge's accuracy, points", "post_hoc": "the judge's accuracy, %"}
TITLES = {"aopc": "Without the top K words", "post_hoc": "With the top K words alone"}
TEXT_SIZE, WIDE = 2.4, 230.0


def draw_purified(table: Table, rows: Sequence[Row]) -> dict[str, str]:
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
            name,
            marks[name],
            tuple((a, b) for (a, b), own in zip(points, labels, strict=True) if own == label),
            TEXT_SIZE,
        )
        for label, name in enumerate(names)
    ]
    yield from draw_clouds(clouds, x, y, legend=False)
