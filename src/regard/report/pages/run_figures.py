"""The figures of a report, each readable alone: as SVG, with the numbers that it was drawn from.

If training had phases, each phase has separate curves: phases train different weights with different losses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple

from regard.facts.analysis import AnalysisFacts, Box, TokenType
from regard.facts.history import Epoch, Round, Rounds, Spread, rounds
from regard.facts.run import Calibration, RunFacts
from regard.report.pages.analysis_figures import figures as analysis_figures
from regard.report.pages.audit_figures import audit_figures
from regard.report.plots.lines import Curve, Panel, Style, line_plot, lines, training_lines
from regard.report.plots.marks import HUES, Mark
from regard.report.plots.matrix import MOST, confusion
from regard.report.plots.svg import DASHES
from regard.report.text.characters import one_line
from regard.report.text.exported import Figure
from regard.report.text.numbers import metric_name, written

PER_EPOCH = ("panel", "curve", "epoch", "value", "low", "high")
SHARES = (
    "accuracy",
    *(metric_name(name) for name in ("macro_f", "micro_f", "f", "subset_accuracy", "map")),
)  # at most 1
FROM_ZERO = ("loss", *(metric_name(name) for name in ("log_loss", "rmse", "mae")))  # 0 is the best value
SHORTEST = 0.2  # the length of an axis of accuracies, at least
OF_MEAN = "rmse_of_mean"  # the RMSE of always predicting the mean, which is the same in every epoch
LEARNER, COMPRESSOR = "the learner’s head", "the compressor’s head"
ROUNDS_SIZE = (330.0, 190.0)  # of a panel

Point = tuple[float, float, float, float]  # epoch, value, and the ends of a band


def run_figures(facts: RunFacts) -> dict[str, Figure]:
    """Figures by name, of what the report contains."""
    drawn = {
        "confusion": confusion_figure(facts),
        "calibration": calibration_figure(facts.calibration) if facts.calibration else None,
        "rounds": rounds_figure(facts),
        "training": training_figure(facts.history),
        "norms": norms_figure(facts.history),
        **(words_figures(facts.analysis) if facts.analysis else {}),
        **(audit_figures(facts.audit) if facts.audit else {}),
    }
    return {name: figure for name, figure in drawn.items() if figure is not None}


def confusion_figure(facts: RunFacts) -> Figure | None:
    matrix = facts.measures.matrix if facts.measures else None
    if matrix is None or len(matrix.labels) > MOST:
        return None
    labels = [one_line(label) for label in matrix.labels]
    rows = [[label, *counts] for label, counts in zip(labels, matrix.counts, strict=True)]
    return Figure(confusion("Confusion matrix", labels, matrix.counts), ("actual / predicted", *labels), rows)


def calibration_figure(calibration: Calibration) -> Figure:
    bins = calibration.bins
    x, y, low, high = zip(*((one.predicted, one.actual, one.low, one.high) for one in bins), strict=True)
    ends = (min(one.start for one in bins), max(one.end for one in bins))
    if calibration.kind == "classes":
        ends = (0.0, 1.0)
    curves = (Curve("this run", x, y, low, high), Curve("perfect calibration", ends, ends, ends, ends))
    if calibration.kind == "classes":
        titles = ("Calibration: confidence against accuracy", "probability of the predicted class", "accuracy")
    else:
        titles = ("Calibration: predicted against actual values", "predicted value", "mean of the actual values")
    reach = (0.0, 1.0) if calibration.kind == "classes" else ()
    svg = lines(*titles, [Panel("", curves, x_reach=reach, y_reach=reach)], band=False)
    return Figure(svg, ("from", "to", "n", "said", "found", "low", "high"), [list(astuple(one)) for one in bins])


def training_figure(history: Sequence[Epoch]) -> Figure | None:
    return over_epochs("Loss and scores by epoch", history_panels(history))


def norms_figure(history: Sequence[Epoch]) -> Figure | None:
    norms = level_panel([(epoch, epoch.norms) for epoch in history], "learned norm", "p")
    scores = level_panel([(epoch, epoch.attention) for epoch in history], "attention scores", "mean and deviation")
    panels = [panel for panel in (norms, scores) if panel is not None]
    title = "Learned norms and attention scores" if len(panels) > 1 else panels[0].title.capitalize() if panels else ""
    return over_epochs(title, panels)


def over_epochs(title: str, panels: Sequence[Panel]) -> Figure | None:
    """None without a panel."""
    rows = [
        [panel.title, curve.name, *point]
        for panel in panels
        for curve in panel.curves
        for point in zip(curve.x, curve.y, curve.low, curve.high, strict=True)
    ]
    return Figure(training_lines(title, "epoch", panels), PER_EPOCH, rows) if panels else None


def history_panels(history: Sequence[Epoch]) -> list[Panel]:
    """The training loss, then every score of held-out texts."""
    shown: dict[str, dict[str, list[Point]]] = {"loss": {}}
    for epoch in history:
        points = shown["loss"].setdefault(in_phase("training", epoch), [])
        points += [] if epoch.loss is None else [point(epoch, epoch.loss)]
    for split in ("dev", "test"):
        constant: list[Point] = []  # comes last, so that a phase has the same colour in all panels
        for epoch in history:
            for name, value in epoch.scores.get(split, {}).items():
                curves = shown.setdefault(metric_name("rmse" if name == OF_MEAN else name), {})
                points = constant if name == OF_MEAN else curves.setdefault(in_phase(split, epoch), [])
                points.append(point(epoch, value))
        if constant:
            shown[metric_name("rmse")][f"{split}, the mean"] = constant
    return [panel for title, curves in shown.items() if (panel := make_panel(title, title, curves))]


def level_panel(levels: Sequence[tuple[Epoch, Mapping[str, Spread]]], title: str, y_title: str) -> Panel | None:
    """A curve per level, with a band of one standard deviation."""
    named: dict[str, list[Point]] = {}
    for epoch, spreads in levels:
        for level, spread in spreads.items():
            named.setdefault(in_phase(level, epoch), []).append(point(epoch, *spread))
    return make_panel(title, y_title, named)


def in_phase(name: str, epoch: Epoch) -> str:
    return name if epoch.phase is None else f"{name}, {epoch.phase}"


def point(epoch: Epoch, value: float, std: float = 0.0) -> Point:
    return epoch.number, value, value - std, value + std


def make_panel(title: str, y_title: str, named: Mapping[str, Sequence[Point]]) -> Panel | None:
    """None with fewer than two epochs."""
    if len({one[0] for points in named.values() for one in points}) < 2:
        return None
    curves = []
    for number, (name, points) in enumerate((n, p) for n, p in named.items() if p):
        mark = Mark(HUES[number % len(HUES)], dash=DASHES[number % len(DASHES)])
        x, y, low, high = zip(*points, strict=True)
        curves.append(Curve(name, x, y, low, high, mark))
    values = [value for curve in curves for value in curve.y]
    reach = (0.0,) if title in FROM_ZERO else share_reach(values) if title in SHARES else ()
    return Panel(title, tuple(curves), y_title, 1.0 if title in SHARES else math.inf, y_reach=reach)


def share_reach(values: Sequence[float]) -> tuple[float, ...]:
    """Ends of an axis that is not so short that differences without a meaning look large."""
    middle = (min(values) + max(values)) / 2
    return max(middle - SHORTEST / 2, 0.0), min(middle + SHORTEST / 2, 1.0)


def rounds_figure(facts: RunFacts) -> Figure | None:
    taken = rounds(facts.history, facts.best_epoch)
    if taken is None:
        return None
    every, later, kept = taken.listed, taken.listed[1:], taken.kept.number
    heads = (
        round_curve(LEARNER, every, [one.learner for one in every]),
        round_curve(COMPRESSOR, later, [one.compressor for one in later]),
    )
    divergence = round_curve("KL", later, [one.divergence for one in later])
    shown = [
        Panel(f"{metric_name(taken.measure)} on {taken.texts}", heads, marked=kept),
        Panel(f"KL divergence on {taken.texts}", (divergence,), marked=kept),
    ]
    x_title = f"round (dashed: {kept}, which was kept)"
    svg = line_plot("Round by round", x_title, shown, Style(band=False, whole=True), ROUNDS_SIZE)
    return Figure(svg, ("panel", "curve", "round", "epoch", "value", "kept"), round_rows(shown, taken))


def round_curve(name: str, listed: Sequence[Round], values: Sequence[float]) -> Curve:
    y = tuple(values)
    return Curve(name, tuple(float(one.number) for one in listed), y, y, y)


def round_rows(shown: Sequence[Panel], taken: Rounds) -> list[list[object]]:
    epochs = {one.number: one.epoch for one in taken.listed}
    return [
        [panel.title, curve.name, int(x), epochs[int(x)], y, "yes" if x == taken.kept.number else ""]
        for panel in shown
        for curve in panel.curves
        for x, y in zip(curve.x, curve.y, strict=True)
    ]


def rounds_text(taken: Rounds) -> str:
    """A description of the figure of rounds."""
    kept, name = taken.kept, metric_name(taken.measure)
    chosen = (
        f"Round {kept.number} was kept: the best on dev texts of those after round 0."
        if taken.held_out
        else f"Without dev texts to select by, the last round, {kept.number}, was kept."
    )
    return (
        "Round 0 is plain attention. In every later round the learner is trained with the current attention, and then "
        "the compressor trains the attention again, by predicting the label through a narrow, noisy channel. "
        f"{chosen} Its predictions, by {LEARNER}, have an {name} of {written(kept.learner)} on {taken.texts} (round 0: "
        f"{written(taken.listed[0].learner)}); {COMPRESSOR}, which sees only what passes the channel, has "
        f"{written(kept.compressor)}. The KL divergence is an upper bound of the information that passes: "
        f"{written(kept.divergence)} in round {kept.number}; 0 would be none."
    )


def words_figures(facts: AnalysisFacts) -> dict[str, Figure]:
    """The figures of an analysis that are about words."""
    drawn = analysis_figures(facts)
    columns = ("polarity", "attention", "weight", "count", "gamma")
    tokens = [
        [one.token, one.type or "", one.polarity, one.attention, one.weight, one.count, one.gamma]
        for one in facts.tokens
    ]
    shown = {}
    if "scatter" in drawn:
        shown["words"] = Figure(drawn["scatter"], ("token", "type", *columns), tokens)
    for name, boxes in score_boxes(facts.types).items():
        if name in drawn:
            rows = [[kind, *astuple(box)] for kind, box in boxes.items()]
            head = ("type", "mean", "std", "min", "q1", "median", "q3", "max")
            shown[f"{name}_by_type"] = Figure(drawn[name], head, rows)
    return shown


def score_boxes(types: Sequence[TokenType]) -> dict[str, dict[str, Box]]:
    """By the name of the figure, then by type."""
    return {
        "polarity": {kind.name: kind.polarity for kind in types if kind.polarity is not None},
        "attention": {kind.name: kind.attention for kind in types if kind.attention is not None},
        "weights": {kind.name: kind.weight for kind in types if kind.weight is not None},
    }
