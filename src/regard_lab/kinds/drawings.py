"""Figures of the kinds "scores", "flow", "debate" and "purified"; those of "weights" are in `weights`."""

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
from regard_lab.statistics import mean_interval, over_seeds

if TYPE_CHECKING:
    from regard_lab.rows import CellKey, Row
    from regard_lab.tables.table import Table


WIDTH, HEIGHT, TOKEN_SIZE = 330.0, 230.0, 2.6
TYPE, POLARITY, ATTENTION, LOCAL_POLARITY, LOCAL_ATTENTION = 0, 1, 2, 4, 5  # columns of a row's tokens; 3 is the weight

EDGES = ("min", "q1", "median", "q3", "max", "mean")


def draw_scores(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    """One scatter plot per corpus, and one figure of all boxes."""
    figures = {}
    first = first_seeds(table, rows)
    for corpus in table.corpora.values():
        corpus_rows = {table.title_of(cell_key): row for cell_key, row in first.items() if cell_key[1] == corpus.name}
        if corpus_rows:
            figures[f"scores-{corpus.name}"] = scores_figure(
                f"Polarity and attention scores: {corpus.title}", corpus_rows
            )
    all_boxes = [box for cell_key, row in first.items() for box in weight_boxes(table, cell_key, row)]
    if all_boxes:
        figures["weights"] = boxes(f"{table.title}: mean weights on test", "mean attention weight", all_boxes)
    return figures


def first_seeds(table: Table, rows: Sequence[Row]) -> dict[CellKey, Row]:
    by_cell = table.by_cell(row for row in rows if row.get("tokens"))
    return {cell_key: min(cell_rows, key=lambda row: int(row["seed"])) for cell_key, cell_rows in by_cell.items()}


def scores_figure(title: str, rows: Mapping[str, Row]) -> str:
    """`rows`: title of a model -> its row. A model with local scores has two panels."""
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
        Cloud(name, marks[name], tuple(point for token_type, point in tokens if token_type == code), TOKEN_SIZE)
        for code, name in enumerate(row["types"])
    ]
    yield from draw_clouds(clouds[::-1], x_axis, y_axis)  # neutral ones below the others


def weight_boxes(table: Table, cell_key: CellKey, row: Row) -> Iterator[Box]:
    marks = type_marks(row["types"])
    for name in row["types"]:
        box = row["boxes"].get(name)
        if box:
            title = f"{table.corpora[cell_key[1]].title}, {table.title_of(cell_key)}: {name}"
            yield Box(title, marks[name], *(box[edge] for edge in EDGES))


PAIRS = {  # the gradient is that of Jain & Wallace, with fixed weights
    "held": "attention, gradient",
    "leave_one_out": "attention, leave-one-out",
    "between": "gradient, leave-one-out",
    "random": "attention, random scores",
}
FEWEST = 5  # texts that a group needs to be drawn


def draw_debate(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    by_cell = table.by_cell(rows)
    figures = {
        "tau": taus(table, by_cell),
        "permuted": permuted(table, by_cell),
        "adversaries": adversaries(table, by_cell),
    }
    return {name: svg for name, svg in figures.items() if svg}


def taus(table: Table, by_cell: Mapping[CellKey, Sequence[Row]]) -> str:
    """One panel per model: the share of texts in each bin of τ, for attention with each measure and between two measures."""
    drawn = []
    for cell_key, rows in by_cell.items():
        curves = []
        for name, title in PAIRS.items():
            counts = [row["histograms"][name] for row in rows if name in row.get("histograms", {})]
            if counts:
                bins = len(counts[0])
                middles = [(2 * k + 1) / bins - 1 for k in range(bins)]
                shares = [[100 * n / max(sum(histogram), 1) for n in histogram] for histogram in counts]
                curves.append(over_seeds(title, middles, list(zip(*shares, strict=True))))
        if curves:
            drawn.append(Panel(f"{table.corpora[cell_key[1]].title}, {table.title_of(cell_key)}", tuple(curves)))
    return lines("Kendall's τ, text by text", "τ", "% of texts", drawn, band=True) if drawn else ""


def permuted(table: Table, by_cell: Mapping[CellKey, Sequence[Row]]) -> str:
    """One panel per corpus, one line per model: the mean over groups of texts with a similar largest weight."""
    drawn = []
    for corpus in table.corpora.values():
        curves = []
        for cell_key, rows in by_cell.items():
            groups: dict[float, list[float]] = {}
            for group in (group for row in rows if cell_key[1] == corpus.name for group in row.get("by_largest", ())):
                if group["n"] >= FEWEST:
                    groups.setdefault((group["from"] + group["to"]) / 2, []).append(group["moved"])
            if groups:
                x = sorted(groups)
                curves.append(over_seeds(table.title_of(cell_key), x, [groups[middle] for middle in x]))
        drawn += [Panel(corpus.title, tuple(curves))] if curves else []
    title = "Permuted weights: change of predictions (median TVD per text)"
    return lines(title, "largest weight of a text", "TVD", drawn, band=False) if drawn else ""


def adversaries(table: Table, by_cell: Mapping[CellKey, Sequence[Row]]) -> str:
    """One panel per corpus: trained adversaries as one line along λ, all other models as points."""
    drawn = []
    for corpus in table.corpora.values():
        line: list[tuple[float, list[float]]] = []
        points = []
        for cell_key, rows in by_cell.items():
            pairs = ((value_of(row, "jsd"), value_of(row, "tvd")) for row in rows if cell_key[1] == corpus.name)
            complete = [(jsd, tvd) for jsd, tvd in pairs if jsd is not None and tvd is not None]
            mean = mean_interval([jsd for jsd, _ in complete])
            if mean is None:
                continue
            tvds = [tvd for _, tvd in complete]
            if "factor" in rows[0]["options"]:
                line.append((mean.mean, tvds))
            else:
                points.append(over_seeds(table.title_of(cell_key), [mean.mean], [tvds]))
        line.sort(key=lambda point: point[0])
        if line:
            points.insert(0, over_seeds("trained adversaries", [x for x, _ in line], [tvds for _, tvds in line]))
        drawn += [Panel(corpus.title, tuple(points))] if points else []
    title = "Difference of predictions by difference of weights, from the model of the same seed"
    return lines(title, "JSD of weights", "TVD of predictions", drawn, band=False) if drawn else ""


CURVES = {"aopc": "drop of the judge's accuracy, points", "post_hoc": "the judge's accuracy, %"}
TITLES = {
    "aopc": "Without the top K words: means over seeds with 95 % bands",
    "post_hoc": "With only the top K words: means over seeds with 95 % bands",
}
TEXT_SIZE, WIDE = 2.4, 230.0
RANDOM = "random words"

JudgeKey = tuple[object, ...]


def draw_purified(table: Table, rows: Sequence[Row]) -> dict[str, str]:
    """Figures of the measures that the table shows, and maps of texts if rows have them."""
    by_cell = table.by_cell(rows)
    shown = {measure for corpus in table.corpora.values() for measure in corpus.measures}
    drawn_measures = [name for name in CURVES if any(measure.startswith(name) for measure in shown)]
    figures = {f"along-k-{name}".replace("_", "-"): along_k(table, by_cell, name) for name in drawn_measures}
    if any(measure.startswith("round_") for measure in shown):
        figures["rounds"] = along_rounds(table, by_cell)
    for corpus in table.corpora.values():
        figures[f"map-{corpus.name}"] = maps(table, by_cell, corpus.name)
    return {name: svg for name, svg in figures.items() if svg}


def along_k(table: Table, by_cell: Mapping[CellKey, Sequence[Row]], name: str) -> str:
    """One panel per corpus: every method, and random words as each judge sees them."""
    curves: dict[str, list[Curve]] = {corpus: [] for corpus in table.corpora}
    chance: dict[str, dict[JudgeKey, Sequence[Row]]] = {corpus: {} for corpus in table.corpora}
    titles: dict[JudgeKey, str] = {}
    for cell_key, rows in by_cell.items():
        drawn_rows = [row for row in rows if name in row.get("curves", {})]
        if not drawn_rows:
            continue
        first, corpus = drawn_rows[0], cell_key[1]
        judge = judge_key(first)
        if first["options"].get("chance"):
            titles[judge] = table.title_of(cell_key)
        else:
            curves[corpus].append(shares(table.title_of(cell_key), first["cuts"], paths_of(drawn_rows, name)))
        if len(drawn_rows) > len(chance[corpus].get(judge, ())):  # the method with the most seeds
            chance[corpus][judge] = drawn_rows
    several = len({judge for judges in chance.values() for judge in judges}) > 1
    drawn = []
    for corpus, judges in chance.items():
        for judge, rows in judges.items():
            title = titles.get(judge, RANDOM) if several else RANDOM
            curves[corpus].append(shares(title, rows[0]["cuts"], paths_of(rows, f"{name}_random")))
        if judges:
            drawn.append(Panel(table.corpora[corpus].title, tuple(curves[corpus])))
    return lines(TITLES[name], "K", CURVES[name], drawn, band=True, whole=True) if drawn else ""


def judge_key(row: Row) -> JudgeKey:
    """What distinguishes the judges of a corpus; their training options follow from these."""
    return tuple(row["options"].get(option) for option in ("encoder", "pretrained", "judge"))


def paths_of(rows: Sequence[Row], name: str) -> Sequence[Sequence[float]]:
    return [row["curves"][name] for row in rows]


def along_rounds(table: Table, by_cell: Mapping[CellKey, Sequence[Row]]) -> str:
    """Accuracy after each round, for models that were evaluated by round."""
    drawn = []
    for corpus in table.corpora.values():
        curves = []
        for cell_key, rows in by_cell.items():
            with_rounds = [row for row in rows if cell_key[1] == corpus.name and "round_0" in row["values"]]
            if with_rounds:
                last = min(max(k for k in range(100) if f"round_{k}" in row["values"]) for row in with_rounds)
                paths = [[row["values"][f"round_{k}"] for k in range(last + 1)] for row in with_rounds]
                curves.append(shares(table.title_of(cell_key), range(last + 1), paths))
        drawn += [Panel(corpus.title, tuple(curves))] if curves else []
    title = "Accuracy after each round: means over seeds with 95 % bands"
    return lines(title, "round", "accuracy, %", drawn, band=True, whole=True) if drawn else ""


def shares(name: str, x: Sequence[float], paths: Sequence[Sequence[float]]) -> Curve:
    """A curve in per cent; one path per seed."""
    return over_seeds(name, x, [[100 * path[k] for path in paths] for k in range(len(x))])


def maps(table: Table, by_cell: Mapping[CellKey, Sequence[Row]], corpus: str) -> str:
    """Each text is a point; colour and shape show its class."""
    drawn = []
    for cell_key, rows in by_cell.items():
        for row in rows:
            if cell_key[1] == corpus and "map" in row:
                for name, points in row["map"]["points"].items():
                    title = ", ".join(filter(None, (table.title_of(cell_key), name)))
                    drawn.append(partial(cloud, title, points, row["map"]["labels"]))
    heading = f"Map of texts (t-SNE): {table.corpora[corpus].title}"
    return panels(heading, drawn, (WIDE, WIDE), (LEFT, 20), headed=True) if drawn else ""


def cloud(
    title: str, points: Sequence[Sequence[float]], labels: Sequence[int], left: float, top: float
) -> Iterator[str]:
    """A panel without numbers at its axes, which have no meaning."""
    x = Axis(*span([point[0] for point in points]), left, left + WIDE)
    y = Axis(*span([point[1] for point in points]), top + WIDE, top)
    yield text(left, top - 12, title, weight="600")
    names = [str(label) for label in sorted(set(labels))]
    marks = type_marks([*names, "neutral"])
    clouds = [
        Cloud(
            name,
            marks[name],
            tuple((a, b) for (a, b), other in zip(points, labels, strict=True) if other == label),
            TEXT_SIZE,
        )
        for label, name in enumerate(names)
    ]
    yield from draw_clouds(clouds, x, y, legend=False)
