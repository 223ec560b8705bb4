"""The figures of an analysis as SVG, each readable alone: scores, weights and dot-products by type, and along training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from regard.report.pages.analysis_along import along_training
from regard.report.pages.analysis_scores import (
    ATTENTION_TITLE,
    Found,
    clouds,
    marks_of,
    named_words,
    polarity_title,
    score_spans,
)
from regard.report.plots.boxes import Box, boxes
from regard.report.plots.dots import TypePanel, dots_by_type
from regard.report.plots.marks import Mark, pair_marks
from regard.report.plots.scatter import scatter
from regard.report.text.characters import one_line

PAIRS = 21  # more pairs of types than this, and only those of a type with itself are drawn


def figures(found: Found) -> dict[str, str]:
    """Name to SVG; what the analysis doesn't hold leaves no figure."""
    drawn = {name: draw(found) for name, draw in FIGURES.items()}
    return {name: svg for name, svg in drawn.items() if svg} | along_training(found)


def scores_figure(found: Found) -> str:
    words = [(word["token"], (word["polarity"], word["attention"])) for word in named_words(found)]
    shown = clouds(found)
    if not shown:
        return ""
    title = f"Polarity and attention of {len(found['tokens']):,} tokens: {one_line(found['run'] or found['data'])}"
    return scatter(title, polarity_title(found), ATTENTION_TITLE, shown, score_spans(found, along=False), words)


def types_figure(found: Found, key: str, title: str, x_title: str) -> str:
    marks = marks_of(found)
    shown = [as_box(kind["name"], marks[kind["name"]], kind.get(key)) for kind in found["types"]]
    return drawn_boxes(title, x_title, shown)


def pairs_figure(found: Found) -> str:
    pairs = shown_pairs(found["dot_products"])
    marks = pair_marks([(pair["pair"][0], pair["pair"][1]) for pair in pairs], marks_of(found))
    shown = [as_box(" · ".join(pair["pair"]), mark, pair) for pair, mark in zip(pairs, marks, strict=True)]
    return drawn_boxes("Dot-products of word vectors by pair of types", "Ω: dot-product of two different tokens", shown)


def terms_figure(found: Found) -> str:
    marks = marks_of(found)
    shown = []
    for score, terms in (found["flow"] or {}).items():
        lines = [
            (name, {k: v for k, v in values.items() if v is not None and k in marks}) for name, values in terms.items()
        ]
        if lines:
            shown.append(TypePanel(f"What pushes {score}", f"mean change of {score}", tuple(lines)))
    return dots_by_type("Terms of the gradient flow by type", shown, marks) if shown else ""


def as_box(name: str, mark: Mark, box: Mapping[str, Any] | None) -> Box | None:
    """None for a type without tokens."""
    values = [None if box is None else box.get(key) for key in ("min", "q1", "median", "q3", "max", "mean")]
    known = [float(value) for value in values if value is not None]
    return Box(name, mark, *known) if len(known) == len(values) else None


def drawn_boxes(title: str, x_title: str, shown: Sequence[Box | None]) -> str:
    known = [box for box in shown if box is not None]
    return boxes(title, x_title, known) if known else ""


def shown_pairs(pairs: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """All of them, or where that is too much to read those of a type with itself."""
    return [pair for pair in pairs if len(pairs) <= PAIRS or pair["pair"][0] == pair["pair"][1]]


FIGURES: dict[str, Callable[[Found], str]] = {
    "scatter": scores_figure,
    "polarity": lambda found: types_figure(found, "polarity", "Polarity scores by type", polarity_title(found)),
    "attention": lambda found: types_figure(found, "attention", "Attention scores by type", ATTENTION_TITLE),
    "weights": lambda found: types_figure(found, "weight", "Mean attention weights by type", "mean weight of a token"),
    "dot_products": pairs_figure,
    "terms": terms_figure,
}
