"""Figures along training from a recording: scores by type, dot-products by pair, V and W, terms of the flow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

from regard.report.pages.analysis_scores import Found, marks_of, recorded, type_names
from regard.report.plots.lines import Curve, Panel, training_lines
from regard.report.plots.marks import HUES, Mark, pair_marks
from regard.report.plots.svg import DASHES

LINES = 10  # more lines than this in a panel, and only pairs of a type with itself are drawn
EPOCH = "epoch"

Marked = tuple[Curve | None, Mark]


def along_training(found: Found) -> dict[str, str]:
    """Name to SVG; nothing without a recording."""
    if not recorded(found):
        return {}
    drawn = {f"along_training_{name}": draw(found) for name, draw in ALONG.items()}
    return {name: svg for name, svg in drawn.items() if svg}


def scores_along(found: Found, score: str) -> str:
    marks, by_type = marks_of(found), found["recording"]["by_type"]
    moments = found["recording"]["moments"]
    banded = [(banded_curve(name, moments, (by_type.get(name) or {}).get(score)), marks[name]) for name in marks]
    title = f"{score.capitalize()} scores along training: mean and quartiles by type"
    return one_panel(title, f"{score} score", banded)


def dot_products_along(found: Found) -> str:
    recording = found["recording"]
    pairs = recording.get("dot_products") or []
    shown = [pair for pair in pairs if len(pairs) <= LINES or pair["pair"][0] == pair["pair"][1]]
    marks = pair_marks([(pair["pair"][0], pair["pair"][1]) for pair in shown], marks_of(found))
    curves = [
        (plain_curve(" · ".join(pair["pair"]), recording["moments"], pair["mean"]), mark)
        for pair, mark in zip(shown, marks, strict=True)
    ]
    return one_panel("Dot-products of word vectors along training", "mean Ω", curves)


def head_along(found: Found) -> str:
    """V and W: how far they point the same way, and how long they are."""
    recording = found["recording"]
    products = list(zip(*(recording.get("vtw") or []), strict=True))
    lengths = list(zip(*(recording.get("norms_w") or []), strict=True))
    norm_v = plain_curve("‖V‖", recording["moments"], recording.get("norm_v") or [])
    angle = known(by_output(found, "VᵀW", products))
    norms = known([(norm_v, Mark(HUES[-1])), *by_output(found, "‖W‖", lengths)])
    shown = [
        Panel(title, curves, name)
        for title, name, curves in (("VᵀW", "VᵀW", angle), ("Norms", "norm", norms))
        if curves
    ]
    return training_lines("V and W along training", EPOCH, shown, stacked=True) if shown else ""


def terms_along(found: Found) -> str:
    recording, marks = found["recording"], marks_of(found)
    shown = []
    for term, by_type in (recording.get("terms") or {}).items():
        curves = [(plain_curve(name, recording["moments"], by_type.get(name) or []), marks[name]) for name in marks]
        drawn = known(curves)
        if drawn:
            shown.append(Panel(f"Term {term}", drawn, "mean by type"))
    return training_lines("Terms of the gradient flow along training", EPOCH, shown) if shown else ""


def by_output(found: Found, name: str, columns: Sequence[Sequence[float | None]]) -> list[Marked]:
    """A curve for each output of the head: one of two classes, else one a class."""
    moments = found["recording"]["moments"]
    if len(columns) == 1:
        return [(plain_curve(name, moments, columns[0]), Mark(HUES[4], dash=DASHES[1]))]
    marks = marks_of(found)
    pairs = zip(type_names(found), columns, strict=False)  # the neutral type has no output
    return [(plain_curve(f"{name} {kind}", moments, column), marks[kind]) for kind, column in pairs]


def plain_curve(name: str, moments: Sequence[float], values: Sequence[float | None]) -> Curve | None:
    points = [(x, y) for x, y in zip(moments, values, strict=False) if y is not None and isfinite(y)]
    if not points:
        return None
    x, y = zip(*points, strict=True)
    return Curve(name, x, y, y, y)


def banded_curve(name: str, moments: Sequence[float], rows: Sequence[Sequence[float]] | None) -> Curve | None:
    """From (mean, first quartile, third quartile) of each moment; a type without tokens has none."""
    points = [
        (x, *row) for x, row in zip(moments, rows or (), strict=False) if row is not None and None not in tuple(row)
    ]
    if not points:
        return None
    x, mean, low, high = zip(*points, strict=True)
    return Curve(name, x, mean, low, high)


def one_panel(title: str, y_title: str, curves: Iterable[Marked]) -> str:
    drawn = known(curves)
    return training_lines(title, EPOCH, [Panel("", drawn, y_title)]) if drawn else ""


def known(curves: Iterable[Marked]) -> tuple[Curve, ...]:
    return tuple(replace(curve, mark=mark) for curve, mark in curves if curve is not None)


ALONG: Mapping[str, Callable[[Any], str]] = {
    "polarity": lambda found: scores_along(found, "polarity"),
    "attention": lambda found: scores_along(found, "attention"),
    "dot_products": dot_products_along,
    "vtw": head_along,
    "terms": terms_along,
}
