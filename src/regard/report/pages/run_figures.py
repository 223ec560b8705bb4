"""The figures of a report, each readable alone: as SVG, with the numbers that it was drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regard.report.pages.analysis_figures import figures as analysis_figures
from regard.report.pages.audit_figures import audit_figures
from regard.report.pages.run_history import drawn, history_panels, level_panels, rows
from regard.report.pages.run_rounds import rounds_figure
from regard.report.plots.lines import Curve, Panel, lines
from regard.report.plots.matrix import MOST, confusion
from regard.report.text.exported import Figure
from regard.report.text.measures import Matrix, whole_matrix

Report = Mapping[str, Any]
OF_WORDS = ("scatter", "polarity", "attention", "weights")
AN_EPOCH = ("panel", "curve", "epoch", "value", "low", "high")


def run_figures(found: Report) -> dict[str, Figure]:
    """By name; what the report doesn't hold leaves no figure."""
    made = {
        "confusion": confusion_figure(found),
        "calibration": calibration_figure(found),
        "rounds": rounds_figure(found),
        "training": training_figure(found),
        "norms": norms_figure(found),
        **words_figures(found),
        **(audit_figures(found["audit"]) if found["audit"] else {}),
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def confusion_figure(found: Report) -> Figure | None:
    matrix: Matrix | None = whole_matrix(found["metrics"] or {})
    if matrix is None or len(matrix.labels) > MOST:
        return None
    listed = [[label, *counts] for label, counts in zip(matrix.labels, matrix.counts, strict=True)]
    return Figure(
        confusion("What was taken for what", matrix.labels, matrix.counts), ("true / said", *matrix.labels), listed
    )


def calibration_figure(found: Report) -> Figure | None:
    given = found["calibration"]
    if not given:
        return None
    bins = given["bins"]
    x, y, low, high = (tuple(one[name] for one in bins) for name in ("said", "found", "low", "high"))
    ends = (min(one["from"] for one in bins), max(one["to"] for one in bins))
    curves = (Curve("this run", x, y, low, high), Curve("as it says", ends, ends, ends, ends))
    if given["kind"] == "classes":
        titles = ("Is it as often right as it says?", "probability of the answer", "share of right answers")
    else:
        titles = ("Are its numbers right in the mean?", "number that was said", "mean of the true numbers")
    head = ("from", "to", "n", "said", "found", "low", "high")
    return Figure(lines(*titles, [Panel("", curves)], band=False), head, [[one[name] for name in head] for one in bins])


def training_figure(found: Report) -> Figure | None:
    panels = history_panels(found["history"])
    return Figure(drawn("Over the epochs", panels), AN_EPOCH, rows(panels)) if panels else None


def norms_figure(found: Report) -> Figure | None:
    panels = level_panels(found["history"], "norms", "learned norm", "p")
    panels += level_panels(found["history"], "scores", "attention scores", "mean and deviation")
    title = "Learned norms and attention scores" if len(panels) > 1 else panels[0].title.capitalize() if panels else ""
    return Figure(drawn(title, panels), AN_EPOCH, rows(panels)) if panels else None


def words_figures(found: Report) -> dict[str, Figure]:
    """Those of an analysis that are about words."""
    given = found["analysis"]
    if not given:
        return {}
    made = {name: svg for name, svg in analysis_figures(given).items() if name in OF_WORDS}
    numbers = ("polarity", "attention", "weight", "count", "gamma")
    tokens = [[token["token"], token["type"] or "", *(token[name] for name in numbers)] for token in given["tokens"]]
    ends = ("mean", "std", "min", "q1", "median", "q3", "max")
    found_figures = {}
    for name, svg in made.items():
        if name == "scatter":
            found_figures["words"] = Figure(svg, ("token", "type", *numbers), tokens)
            continue
        key = {"weights": "weight"}.get(name, name)
        boxes = [[kind["name"], *(kind[key].get(end) for end in ends)] for kind in given["types"] if kind.get(key)]
        found_figures[f"{name}_by_type"] = Figure(svg, ("type", *ends), boxes)
    return found_figures
