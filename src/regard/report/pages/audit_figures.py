"""The figures of an audit, each readable alone, with the numbers that it was drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from regard.facts.audit import (
    AuditFacts,
    Correlation,
    Diagnostics,
    DivergenceByText,
    Permutation,
    Plausibility,
    TrainedAdversary,
    WordDropout,
)
from regard.facts.faithfulness import Faithfulness
from regard.facts.intervals import Interval
from regard.facts.separation import Separation
from regard.report.names import COMPARED, MAIN, explainer_name, measure_name, measure_title
from regard.report.plots.axis import span
from regard.report.plots.bars import Histogram, histogram, histograms
from regard.report.plots.dots import Dot, DotPanel, dots
from regard.report.plots.lines import Curve, Panel, lines
from regard.report.plots.marks import HUES, Mark
from regard.report.plots.scatter import Cloud, Cross, crosses, scatter
from regard.report.text.characters import one_line
from regard.report.text.exported import Figure

FARTHEST = math.log(2)  # the largest Jensen–Shannon divergence
ENDS = ("mean", "low", "high")
SHORT_JUDGES = {"audited": "audited", "plain": "retrained", "dropout": "word dropout"}


def audit_figures(facts: AuditFacts) -> dict[str, Figure]:
    """Figures by name, of what the audit contains."""
    drawn = {
        "faithfulness": faithfulness_figure(facts.faithfulness),
        "differences": differences_figure(facts.faithfulness),
        "normalised": normalised_figure(facts.faithfulness),
        **diagnostic_figures(facts.diagnostics),
        "separation": None if facts.separation is None else separation_figure(facts.separation),
        "plausibility": None if facts.plausibility is None else plausibility_figure(facts.plausibility),
    }
    return {name: figure for name, figure in drawn.items() if figure is not None}


def diagnostic_figures(facts: Diagnostics) -> dict[str, Figure | None]:
    drawn: dict[str, Figure | None] = {}
    if facts.correlation is not None:
        drawn["correlation"] = correlation_figure(facts.correlation)
    if facts.permutation is not None:
        drawn["permutation"] = permutation_figure(facts.permutation)
    if facts.adversary is not None:
        title = "Distance of the farthest weights with the same prediction"
        drawn["adversary"] = divergence_figure(title, facts.adversary.by_text)
    if facts.even is not None:
        shown = [("with attention", facts.even.attention), ("with uniform weights", facts.even.even)]
        drawn["even"] = accuracies_figure("Retrained with attention and with uniform weights", shown)
    if facts.seeds is not None:
        title = "Distance of attention between seeds"
        drawn["seeds"] = divergence_figure(title, facts.seeds.by_text)
    if facts.guided is not None:
        guided = facts.guided
        shown = [("with this attention", guided.guided), ("with uniform weights", guided.even)]
        shown.append(("with learned weights", guided.learned))
        drawn["guided"] = accuracies_figure("A model that sees each word alone, by its weights", shown)
    if facts.trained_adversary is not None:
        drawn["trained_adversary"] = trained_figure(facts.trained_adversary)
    if facts.word_dropout is not None:
        drawn["word_dropout"] = dropout_figure(facts.word_dropout)
    return drawn


def faithfulness_figure(facts: Faithfulness) -> Figure | None:
    percents = [float(cut.split()[0]) for cut in facts.cuts]
    panels, rows = [], []
    for measure in COMPARED:
        curves = []
        for one in facts.curves:
            if one.measure != measure:
                continue
            points = [(x, v, v.mean) for x, v in zip(percents, one.values, strict=True) if v.mean is not None]
            rows += [[measure, one.explainer, x, v.mean, v.low, v.high, v.n] for x, v, _ in points]
            if points:
                low = tuple(mean if v.low is None else v.low for _, v, mean in points)
                high = tuple(mean if v.high is None else v.high for _, v, mean in points)
                x, y = tuple(x for x, _, _ in points), tuple(mean for _, _, mean in points)
                curves.append(Curve(explainer_name(one.explainer), x, y, low, high))
        if curves:
            panels.append(Panel(measure_title(measure), tuple(curves)))
    if not panels:
        return None
    title = "Effect of removing the top words"
    svg = lines(title, "% of words removed", "mean over texts", panels, band=False)
    return Figure(svg, ("measure", "explainer", "percent", *ENDS, "texts"), rows)


def differences_figure(facts: Faithfulness) -> Figure | None:
    """The focus minus each other explainer, by measure."""
    known = [(one, bounds) for one in facts.comparisons if (bounds := one.difference.bounds)]
    panels = []
    for measure in COMPARED:
        shown = tuple(Dot(explainer_name(one.other), *bounds) for one, bounds in known if one.measure == measure)
        if shown:
            panels.append(DotPanel(measure_name(measure), shown))
    if not panels:
        return None
    focus = explainer_name(known[0][0].one)
    svg = dots(
        f"{focus[0].upper()}{focus[1:]} minus each other explainer",
        "difference, mean over cut-offs and texts",
        panels,
        "",
    )
    rows = [[one.measure, one.one, one.other, *bounds, one.difference.p, one.holm] for one, bounds in known]
    return Figure(svg, ("measure", "one", "other", *ENDS, "p", "holm"), rows)


def normalised_figure(facts: Faithfulness) -> Figure | None:
    """Where the mean of each explainer lies between the limits."""
    shown: dict[str, list[tuple[str, Interval]]] = {}
    for one in facts.curves:
        if one.normalised is not None:
            better = f"{measure_name(one.measure)}, {one.better} is better"
            shown.setdefault(better, []).append((explainer_name(one.explainer), one.normalised))
    title = "Between the lower limit (0) and the upper limit (1)"
    return dots_figure(title, "normalised mean over cut-offs", shown, reach=(0.0, 1.0))


def correlation_figure(facts: Mapping[str, Correlation]) -> Figure | None:
    shown, rows = [], []
    for name, one in facts.items():
        mean, counts = one.tau.mean, one.histogram
        if mean is None:
            continue
        marked = ((mean, f"mean {mean:z.2f}".replace("-", "−")),)
        shown.append(Histogram(f"with {explainer_name(name)}", -1.0, 1.0, counts, marked))
        step = 2 / len(counts)
        rows += [[name, round(-1 + step * k, 6), round(-1 + step * (k + 1), 6), n] for k, n in enumerate(counts)]
    if not shown:
        return None
    svg = histograms("Rank correlation of attention with other explainers", "Kendall’s τ per text", "texts", shown)
    return Figure(svg, ("explainer", "from", "to", "texts"), rows)


def permutation_figure(facts: Permutation) -> Figure | None:
    """Jain & Wallace's: the prediction for a text with one heavy word should change."""
    pairs = zip(facts.by_text.largest, facts.by_text.moved, strict=True)
    points = [(a, b) for a, b in pairs if a is not None and b is not None]
    if not points:
        return None
    cloud = Cloud("texts", Mark(HUES[0]), tuple(points))
    spans = (span([0.0, 1.0]), span([0.0, *(b for _, b in points)]))
    title = "Change in predictions when weights are permuted"
    svg = scatter(title, "largest weight of the text", "median total variation of predictions", [cloud], spans)
    return Figure(svg, ("largest", "moved"), points)


def divergence_figure(title: str, by_text: DivergenceByText) -> Figure | None:
    values = [value for value in by_text.divergence if value is not None]
    if not values:
        return None
    drawn = histogram("", values, 0.0, FARTHEST)
    marked = replace(drawn, marked=(*drawn.marked, (FARTHEST / 2, "half of log 2")))
    svg = histograms(title, "Jensen–Shannon divergence, at most log 2", "texts", [marked])
    return Figure(svg, ("divergence",), [[value] for value in values])


def accuracies_figure(title: str, shown: Sequence[tuple[str, Interval]]) -> Figure | None:
    return dots_figure(title, "accuracy", {"": shown})


def separation_figure(facts: Separation) -> Figure | None:
    shown = [("any class", facts.area), *((one_line(one.name), one.area) for one in facts.by_type)]
    title, guessing = "Scores of words of a class against neutral words", (0.5,)
    return dots_figure(title, "area under the ROC curve (0.5: guessing)", {"": shown}, guessing)


def plausibility_figure(facts: Plausibility) -> Figure | None:
    shown = {
        "AUPRC": [(explainer_name(one.name), one.auprc) for one in facts.explainers],
        "token F1": [(explainer_name(one.name), one.f) for one in facts.explainers],
    }
    return dots_figure("Agreement with the words that people marked", "mean over texts", shown)


def dots_figure(
    title: str, x_title: str, shown: Mapping[str, Sequence[tuple[str, Interval]]], reach: tuple[float, ...] = ()
) -> Figure | None:
    """Values that have an interval, by panel; None if there are none."""
    known = {
        panel: [(name, bounds) for name, one in values if (bounds := one.bounds)] for panel, values in shown.items()
    }
    panels = [
        DotPanel(panel, tuple(Dot(name, *bounds) for name, bounds in values), reach)
        for panel, values in known.items()
        if values
    ]
    if not panels:
        return None
    rows = [[panel, name, *bounds] for panel, values in known.items() for name, bounds in values]
    return Figure(dots(title, x_title, panels, ""), ("panel", "name", *ENDS), rows)


def dropout_figure(facts: WordDropout) -> Figure | None:
    """How far each explainer is from random words, by judge; the judges of an explainer are next to each other."""
    shown: dict[str, list[tuple[str, Interval]]] = {}
    for who in dict.fromkeys(one.explainer for judge in facts.judges for one in judge.measured):
        for judge in facts.judges:
            name = f"{explainer_name(who)}, {SHORT_JUDGES.get(judge.name, one_line(judge.name))}"
            for one in judge.measured:
                if one.explainer == who and one.less_random is not None:
                    better = "larger" if one.measure == MAIN else "smaller"
                    panel = f"{measure_name(one.measure)}, {better} is better"
                    shown.setdefault(panel, []).append((name, one.less_random))
    title = "Difference from random words, by judge of the erased texts"
    return dots_figure(title, "difference, mean over cut-offs and texts", shown, reach=(0.0,))


def trained_figure(facts: TrainedAdversary) -> Figure | None:
    """Wiegreffe & Pinter's TVD–JSD curve."""
    known = [
        (one.factor, divergence, distance)
        for one in facts.points
        if (divergence := one.divergence.bounds) and (distance := one.distance.bounds)
    ]
    if not known:
        return None
    shown = [Cross(f"λ = {factor:g}", divergence, distance) for factor, divergence, distance in known]
    titles = ("divergence of attention (JSD)", "distance of predictions (TVD)")
    svg = crosses("How much attending elsewhere changes predictions", *titles, shown)
    head = ("λ", *(f"{side} {end}" for side in ("divergence", "distance") for end in ENDS))
    return Figure(svg, head, [[factor, *divergence, *distance] for factor, divergence, distance in known])
