"""The figures of an audit, each readable alone, with the numbers that it was drawn from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from regard.report.names import COMPARED, explainer_name, measure_name, measure_title
from regard.report.plots.axis import span
from regard.report.plots.bars import Histogram, histogram, histograms
from regard.report.plots.dots import Dot, DotPanel, dots
from regard.report.plots.lines import Curve, Panel, lines
from regard.report.plots.marks import HUES, Mark
from regard.report.plots.scatter import Cloud, Cross, crosses, scatter
from regard.report.text.characters import one_line
from regard.report.text.exported import Figure

Audit = Mapping[str, Any]
FARTHEST = math.log(2)  # the largest Jensen–Shannon divergence
ENDS = ("mean", "low", "high")


def audit_figures(found: Audit) -> dict[str, Figure]:
    """By name; what the audit doesn't hold leaves no figure."""
    own = found["diagnostics"]
    made = {
        "faithfulness": faithfulness_figure(found["faithfulness"]),
        "differences": differences_figure(found["faithfulness"]),
        **{name: draw(own[name]) for name, draw in DIAGNOSTICS.items() if name in own},
        "separation": separation_figure(found["separation"]) if found["separation"] else None,
        "plausibility": plausibility_figure(found["plausibility"]) if found["plausibility"] else None,
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def faithfulness_figure(given: Audit) -> Figure | None:
    x = [float(cut.split()[0]) for cut in given["cuts"]]
    panels, listed = [], []
    for measure in COMPARED:
        curves = []
        for one in given["curves"]:
            if one["measure"] != measure:
                continue
            points = [(a, v) for a, v in zip(x, one["values"], strict=True) if v and v["mean"] is not None]
            listed += [[measure, one["explainer"], a, *(v[end] for end in ENDS), v["n"]] for a, v in points]
            if points:
                y, low, high = (tuple(v["mean"] if v[end] is None else v[end] for _, v in points) for end in ENDS)
                curves.append(Curve(explainer_name(one["explainer"]), tuple(a for a, _ in points), y, low, high))
        if curves:
            panels.append(Panel(measure_title(measure), tuple(curves)))
    if not panels:
        return None
    title = "What happens without the words that weigh most"
    svg = lines(title, "% of the words", "mean over texts", panels, band=False)
    return Figure(svg, ("measure", "explainer", "percent", *ENDS, "texts"), listed)


def differences_figure(given: Audit) -> Figure | None:
    """The focus less each other, by measure."""
    known = [one for one in given["comparisons"] if one["low"] is not None]
    panels = []
    for measure in COMPARED:
        own = [one for one in known if one["measure"] == measure]
        if own:
            shown = tuple(Dot(explainer_name(one["other"]), *(one[end] for end in ENDS)) for one in own)
            panels.append(DotPanel(measure_name(measure), shown))
    if not panels:
        return None
    focus = explainer_name(known[0]["one"])
    svg = dots(f"{focus[0].upper()}{focus[1:]} less each other", "difference, mean over cut-offs and texts", panels, "")
    head = ("measure", "one", "other", *ENDS, "p", "holm")
    return Figure(svg, head, [[one.get(name) for name in head] for one in known])


def correlation_figure(given: Audit) -> Figure | None:
    shown, listed = [], []
    for name, one in given.items():
        mean = one["tau"]["mean"]
        if mean is None:
            continue
        places = ((mean, f"mean {mean:z.2f}".replace("-", "−")),)
        counts = one["histogram"]
        shown.append(Histogram(f"with {explainer_name(name)}", -1.0, 1.0, tuple(counts), places))
        step = 2 / len(counts)
        listed += [[name, round(-1 + step * k, 6), round(-1 + step * (k + 1), 6), n] for k, n in enumerate(counts)]
    if not shown:
        return None
    svg = histograms("How attention’s order agrees with others", "Kendall’s τ of a text", "texts", shown)
    return Figure(svg, ("explainer", "from", "to", "texts"), listed)


def permutation_figure(given: Audit) -> Figure | None:
    """Jain & Wallace's: a text that has one heavy word should mind."""
    by = given["by_text"]
    points = [(a, b) for a, b in zip(by["largest"], by["moved"], strict=True) if a is not None and b is not None]
    if not points:
        return None
    cloud = Cloud("texts", Mark(HUES[0]), tuple(points))
    spans = (span([0.0, 1.0]), span([0.0, *(b for _, b in points)]))
    title = "How far answers move when weights change places"
    svg = scatter(title, "largest weight of the text", "median distance of the answers", [cloud], spans)
    return Figure(svg, ("largest", "moved"), points)


def adversary_figure(given: Audit) -> Figure | None:
    return divergence_figure(given, "How far away weights lie that give the same answer")


def seeds_figure(given: Audit) -> Figure | None:
    return divergence_figure(given, "How far away the attention of other seeds lies")


def divergence_figure(given: Audit, title: str) -> Figure | None:
    values = [value for value in given["by_text"]["divergence"] if value is not None]
    if not values:
        return None
    drawn = histogram("", values, 0.0, FARTHEST)
    marked = Histogram(
        drawn.title, drawn.low, drawn.high, drawn.counts, (*drawn.marked, (FARTHEST / 2, "half of log 2"))
    )
    svg = histograms(title, "Jensen–Shannon divergence, at most log 2", "texts", [marked])
    return Figure(svg, ("divergence",), [[value] for value in values])


def even_figure(given: Audit) -> Figure | None:
    names = {"attention": "with attention", "even": "with even weights"}
    return accuracies_figure(given, names, "Trained again, with attention and without")


def guided_figure(given: Audit) -> Figure | None:
    names = {"guided": "with this attention", "even": "with even weights", "learned": "with weights it learns"}
    return accuracies_figure(given, names, "A model without contexts, by the weights it is given")


def accuracies_figure(given: Audit, names: Mapping[str, str], title: str) -> Figure | None:
    known = {name: given[key] for key, name in names.items() if given[key]["low"] is not None}
    return of_dots(title, "accuracy", [("", known)])


def separation_figure(given: Audit) -> Figure | None:
    rows = [{**given, "name": "any class"}, *given["by_type"]]
    known = {one_line(one["name"]): {**one, "mean": one["auc"]} for one in rows if one["low"] is not None}
    return of_dots("Do scores tell words of a class from neutral ones?", "area under the ROC curve", [("", known)])


def plausibility_figure(given: Audit) -> Figure | None:
    shown = [
        (title, {explainer_name(one["name"]): one[key] for one in given["explainers"] if one[key]["low"] is not None})
        for key, title in (("auprc", "AUPRC"), ("f", "token F1"))
    ]
    return of_dots("Agreement with the words that people marked", "mean over texts", shown)


def of_dots(title: str, x_title: str, shown: Sequence[tuple[str, Mapping[str, Audit]]]) -> Figure | None:
    """Panels of values with intervals; None where no value has one."""
    panels = [
        DotPanel(name, tuple(Dot(who, *(one[end] for end in ENDS)) for who, one in own.items()))
        for name, own in shown
        if own
    ]
    if not panels:
        return None
    listed = [[name, who, *(one[end] for end in ENDS)] for name, own in shown for who, one in own.items()]
    return Figure(dots(title, x_title, panels, ""), ("panel", "name", *ENDS), listed)


def trained_figure(given: Audit) -> Figure | None:
    """Wiegreffe & Pinter's TVD–JSD curve."""
    sides = ("divergence", "distance")
    known = [one for one in given["points"] if all(one[side]["low"] is not None for side in sides)]
    if not known:
        return None
    ends = [[tuple(one[side][end] for end in ENDS) for side in sides] for one in known]
    shown = [Cross(f"λ = {one['factor']:g}", *own) for one, own in zip(known, ends, strict=True)]
    titles = ("divergence of attention (JSD)", "distance of answers (TVD)")
    svg = crosses("What looking elsewhere costs in answers", *titles, shown)
    head = ("λ", *(f"{side} {end}" for side in sides for end in ENDS))
    return Figure(svg, head, [[one["factor"], *own[0], *own[1]] for one, own in zip(known, ends, strict=True)])


DIAGNOSTICS: dict[str, Callable[[Audit], Figure | None]] = {
    "correlation": correlation_figure,
    "permutation": permutation_figure,
    "adversary": adversary_figure,
    "even": even_figure,
    "seeds": seeds_figure,
    "guided": guided_figure,
    "trained_adversary": trained_figure,
}
