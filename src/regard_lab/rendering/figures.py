"""Figures that any table may have: values by epoch, a measure by an option, means with intervals, boxes by pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from regard.report.plots.boxes import Box, boxes
from regard.report.plots.dots import Dot, DotPanel, dots
from regard.report.plots.lines import Curve, Panel, lines
from regard.report.plots.marks import type_marks
from regard_lab.kinds.drawings import EDGES
from regard_lab.kinds.patterns import MOMENTS
from regard_lab.measures import is_number, value_of
from regard_lab.rows import CellKey, Row
from regard_lab.statistics import mean_interval, over_seeds
from regard_lab.tables.table import Figure, Table

Drawing = Callable[[Table, Figure, str, Mapping[CellKey, Sequence[Row]]], str]

NAMES = {"norms.words": "norm p", "norms.sentences": "norm p of sentences", "loss": "training loss"}


def draw(table: Table, rows: Sequence[Row]) -> dict[str, tuple[str, str]]:
    """Name -> (title, SVG) for every figure that has results."""
    by_cell, figures = table.by_cell(rows), {}
    for figure in table.figures:
        chosen = {cell_key: cell_rows for cell_key, cell_rows in by_cell.items() if shows(figure, cell_key)}
        title = figure.title or f"{table.title}: {figure.name}"
        svg = drawings()[figure.kind](table, figure, title, chosen)
        if svg:
            figures[figure.name] = (title, svg)
    return figures


def shows(figure: Figure, cell_key: CellKey) -> bool:
    wanted = (figure.methods, figure.corpora, figure.settings)
    return all(not names or name in names for names, name in zip(wanted, cell_key, strict=True))


def draw_path(table: Table, figure: Figure, title: str, rows: Mapping[CellKey, Sequence[Row]]) -> str:
    """A value of the history by epoch, mean and 95 % band over seeds."""
    curves = {}
    for cell_key, cell_rows in rows.items():
        paths = [path for row in cell_rows if (path := numbers(row.get("history", {}).get(figure.value, ())))]
        if not paths:
            continue
        # up to the shortest seed: a mean over the remaining ones would jump
        length = min(map(len, paths))
        scale = table.measure(name).factor if (name := figure.value.rpartition(".")[2]) in MEASURED else 1.0
        values = [[scale * path[k] for path in paths] for k in range(length)]
        curves[cell_key] = over_seeds("", range(1, length + 1), values)
    panels = arrange_panels(
        table, figure, curves, "none" if len({cell_key[0] for cell_key in curves}) == 1 else "corpora"
    )
    if not panels:
        return ""
    return lines(title, "epoch", NAMES.get(figure.value, figure.value), panels, band=True, whole=True)


def numbers(path: Sequence[float | None]) -> list[float]:
    """The values before the first that is missing."""
    return [value for value in takewhile(is_number, path) if value is not None]


MEASURED = ("accuracy", "macro_f")  # shares, drawn in per cent


def draw_settings(table: Table, figure: Figure, title: str, rows: Mapping[CellKey, Sequence[Row]]) -> str:
    """A measure by an option of the settings, means with 95 % intervals."""
    measure = figure.measure or table.measures[0]
    points: dict[CellKey, list[tuple[float, list[float]]]] = {}
    for (method, corpus, setting), cell_rows in rows.items():
        x = table.settings[setting].options.get(figure.option)
        values = [value for row in cell_rows if (value := value_of(row, measure)) is not None]
        if isinstance(x, (int, float)) and values:
            scaled = [table.measure(measure).factor * value for value in values]
            points.setdefault((method, corpus, ""), []).append((float(x), scaled))
    curves = {}
    for cell_key, pairs in points.items():
        pairs.sort(key=lambda point: point[0])
        curves[cell_key] = over_seeds("", [x for x, _ in pairs], [values for _, values in pairs])
    panels = arrange_panels(table, figure, curves, "corpora")
    if not panels:
        return ""
    return lines(title, figure.axis or figure.option, table.measure(measure).title, panels, band=False, log=figure.log)


def draw_intervals(table: Table, figure: Figure, title: str, rows: Mapping[CellKey, Sequence[Row]]) -> str:
    """Means of a measure with 95 % intervals, one panel per corpus, the paper's number as a hollow mark."""
    panels, measure = [], figure.measure or table.measures[0]
    scale, marked = table.measure(measure).factor, False
    for corpus in table.corpora.values():
        corpus_dots = []
        for cell_key, cell_rows in rows.items():
            values = [value for row in cell_rows if (value := value_of(row, measure)) is not None]
            mean = mean_interval([scale * value for value in values]) if cell_key[1] == corpus.name else None
            if mean is not None and measure in corpus.measures:
                printed = table.printed_value(cell_key, measure)
                other = None if printed is None else scale * printed
                marked = marked or other is not None
                corpus_dots.append(Dot(table.title_of(cell_key), mean.mean, mean.low, mean.high, other))
        panels += [DotPanel(corpus.title, tuple(corpus_dots))] if corpus_dots else []
    return dots(title, table.measure(measure).title, panels, "the paper's number" if marked else "") if panels else ""


def arrange_panels(table: Table, figure: Figure, curves: Mapping[CellKey, Curve], default: str) -> list[Panel]:
    """One panel for all curves, named by everything that differs, or one per corpus with curves named by method and setting."""

    def named(cell_key: CellKey, curve: Curve) -> Curve:
        return replace(curve, name=title_of(table, cell_key, curves))

    if not curves:
        return []
    if (figure.panels or default) == "none":
        several = len({cell_key[1] for cell_key in curves}) > 1
        alone = len({(cell_key[0], cell_key[2]) for cell_key in curves}) == 1
        named_curves = []
        for cell_key, curve in curves.items():
            title = "" if alone and several else title_of(table, cell_key, curves)
            corpus = table.corpora[cell_key[1]].title if several or alone else ""
            name = ", ".join(filter(None, (corpus, title if not alone else "")))
            named_curves.append(replace(curve, name=name))
        return [Panel("", tuple(named_curves))]
    names = list(dict.fromkeys(cell_key[1] for cell_key in curves))
    return [
        Panel(
            table.corpora[corpus].title,
            tuple(named(cell_key, curve) for cell_key, curve in curves.items() if cell_key[1] == corpus),
        )
        for corpus in names
    ]


def title_of(table: Table, cell_key: CellKey, among: Mapping[CellKey, object]) -> str:
    """Method and setting; only the setting if all curves have the same method. A curve along the settings has no setting."""
    method, _, setting = cell_key
    if not setting:
        return table.methods[method].title
    return table.settings[setting].title if len({other[0] for other in among}) == 1 else table.title_of(cell_key)


def drawings() -> dict[str, Drawing]:
    return {
        "path": draw_path,
        "along": draw_along,
        "pairs": draw_pairs,
        "settings": draw_settings,
        "intervals": draw_intervals,
    }


SMALL = 0.01  # if all values of a figure are smaller, it shows them times 1,000


def draw_along(table: Table, figure: Figure, title: str, rows: Mapping[CellKey, Sequence[Row]]) -> str:
    """Values by epoch, mean and 95 % band over seeds, at the moments that all seeds have."""
    panels = []
    for cell_key, cell_rows in rows.items():
        curves = []
        for value in figure.values:
            paths = [path for row in cell_rows if (path := by_moment(row.get("history", {}), value))]
            if paths:
                common = sorted(
                    set.intersection(*map(set, paths))
                )  # long paths are thinned, so seeds may have different moments
                values = [[path[moment] for path in paths] for moment in common]
                curves.append(over_seeds(value_title(value, figure.values), common, values))
        if curves:
            panels.append(Panel(f"{table.corpora[cell_key[1]].title}, {table.title_of(cell_key)}", tuple(curves)))
    name = figure.axis or figure.values[0].partition(".")[0]
    if panels and max(abs(y) for panel in panels for curve in panel.curves for y in curve.y) < SMALL:
        panels, name = [thousandfold(panel) for panel in panels], f"{name}, × 10⁻³"
    return lines(title, "epoch", name, panels, band=True) if panels else ""


def thousandfold(panel: Panel) -> Panel:
    """Values times 1,000, for short numbers on the axis."""
    return replace(panel, curves=tuple(thousandfold_curve(one) for one in panel.curves))


def thousandfold_curve(one: Curve) -> Curve:
    y, low, high = (tuple(1000 * value for value in values) for values in (one.y, one.low, one.high))
    return replace(one, y=y, low=low, high=high)


def by_moment(history: Mapping[str, Sequence[float | None]], value: str) -> dict[float, float]:
    """A path by the epochs at which it was recorded, or by epochs from 1 on if those are missing."""
    path, at = numbers(history.get(value, ())), numbers(history.get(MOMENTS, ()))
    return dict(zip(at if len(at) >= len(path) else range(1, len(path) + 1), path, strict=False))


def value_title(value: str, among: Sequence[str]) -> str:
    """What distinguishes a value from the others: its type of token, and its term if there are several."""
    kind, _, of = value.partition(".")
    several = len({other.partition(".")[0] for other in among}) > 1
    return ", ".join(filter(None, (kind.removeprefix("term_") if several or not of else "", of)))


def draw_pairs(table: Table, figure: Figure, title: str, rows: Mapping[CellKey, Sequence[Row]]) -> str:
    drawn = [
        box for cell_key, cell_rows in rows.items() for box in pair_boxes(table, cell_key, cell_rows, len(rows) > 1)
    ]
    return boxes(title, figure.axis or "dot product of two tokens", drawn) if drawn else ""


def pair_boxes(table: Table, cell_key: CellKey, rows: Sequence[Row], several: bool) -> Iterator[Box]:
    """Boxes in the colour of the pair's first type; their names include the model if there are several."""
    row = min(rows, key=lambda row: int(row["seed"]))
    marks = type_marks(row["types"]) if "types" in row else {}
    for pair, box in row.get("pairs", {}).items():
        of = f"{table.corpora[cell_key[1]].title}, {table.title_of(cell_key)}: " if several else ""
        yield Box(of + pair, marks[pair.partition("-")[0]], *(box[edge] for edge in EDGES))
