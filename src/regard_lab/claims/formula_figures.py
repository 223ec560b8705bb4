"""The figures of docs/norms.md: every path of p, and the direction in which the pooled vector grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from regard.report.plots.lines import Curve, Panel, Style, line_plot
from regard.report.plots.marks import Mark
from regard.report.plots.scatter import Cloud, scatter
from regard.report.plots.svg import COLOURS, DASHES
from regard_lab.claims.formula import CORPORA, ENCODERS, EXTRA_CORPORA, FORMS, MEASURE, values_of
from regard_lab.claims.formula_blocks import path_of
from regard_lab.claims.verdicts import Given
from regard_lab.statistics import over_seeds

SHORT = {
    "printed": "as printed",
    "no-root": "no root",
    "no-normaliser": "no normaliser",
    "neither": "neither",
    "divided": "divided by N",
}
OTHERS = {
    "lstm-printed": "as printed",
    "lstm-replica": "replica",
    "lstm-smoothed": "smoothed labels",
    "lstm-capped": "capped logits",
    "cnn-fast": "CNN, rate 0.01",
}
TITLES = {"lstm": "LSTM", "cnn": "CNN", "han": "HAN, words"}
SIZE = (215.0, 150.0)
POINTS = 34  # of a curve
Slopes = Mapping[str, Sequence[float]]  # of norm_mechanism.json: METHOD/CORPUS -> one per seed


def mark(number: int) -> Mark:
    return Mark(COLOURS[number], dash=DASHES[number])


def paths(given: Given, compared: int) -> str:
    """log p by update: one panel per corpus and encoder, and two for what else was changed."""
    shown = []
    for corpus in CORPORA:
        for encoder in ENCODERS:
            methods = {f"{encoder}-{form}": SHORT[form] for form in FORMS}
            shown.append(path_panel(given, corpus, methods, f"{given.table.corpora[corpus].title}, {TITLES[encoder]}"))
    for corpus in EXTRA_CORPORA:
        title = f"{given.table.corpora[corpus].title}, LSTM as printed, other changes"
        shown.append(path_panel(given, corpus, OTHERS, title))
    drawn = [panel for panel in shown if panel.curves]
    marked = [Panel(panel.title, panel.curves, "log p", marked=compared, y_reach=(0.0,)) for panel in drawn]
    title = "log p by update under five forms of equation 5; the dashed line marks the update that is compared"
    return line_plot(title, "updates", marked, Style(fitted=True), SIZE, columns=3)


def path_panel(given: Given, corpus: str, methods: Mapping[str, str], title: str) -> Panel:
    curves = []
    for number, (method, name) in enumerate(methods.items()):
        found = [path for row in given.rows.get((method, corpus, ""), ()) if (path := path_of(row))]
        if found:
            common = thinned(sorted(set.intersection(*map(set, found))))
            curve = over_seeds(name, common, [[path[update] for path in found] for update in common])
            curves.append(Curve(curve.name, curve.x, curve.y, curve.low, curve.high, mark(number)))
    return Panel(title, tuple(curves))


def thinned(updates: Sequence[int]) -> list[int]:
    """About `POINTS` of them, always with the last: a page is to stay small."""
    every = -(-len(updates) // POINTS)
    return sorted({*updates[::every], updates[-1]})


def mechanism(given: Given, slopes: Slopes) -> str:
    """log p after training against the direction in which the vector grows before it, one point per corpus."""
    clouds = []
    for number, form in enumerate(FORMS):
        for encoder, shape in (("lstm", "circle"), ("cnn", "square")):
            points = tuple(mechanism_points(given, slopes, f"{encoder}-{form}"))
            if points:
                name = f"{SHORT[form]}, {TITLES[encoder]}"
                clouds.append(Cloud(name, Mark(COLOURS[number], shape), points, size=5.0, opacity=0.85))
    axes = [[point[at] for cloud in clouds for point in cloud.points] for at in (0, 1)]
    spans = tuple(widened(min(0.0, *values), max(0.0, *values)) for values in axes)
    title = "Where the vector grows before training, and where p is after it (LSTM and CNN, four corpora)"
    x_title = "d log ‖r‖ / d log p before training"
    return scatter(title, x_title, "log p after 616 updates", clouds, (spans[0], spans[1]))


def mechanism_points(given: Given, slopes: Slopes, method: str) -> Iterator[tuple[float, float]]:
    for corpus in CORPORA:
        known, values = slopes.get(f"{method}/{corpus}", ()), values_of(given, method, corpus, MEASURE).values()
        if known and values:
            yield fmean(known), fmean(values)


def widened(low: float, high: float) -> tuple[float, float]:
    edge = 0.06 * (high - low)
    return low - edge, high + edge
