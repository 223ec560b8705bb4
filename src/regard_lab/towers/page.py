"""Explained ratings of two towers as one self-contained page: measures by what is known, and both sides of each rating.

It has the layout, the style and the shading of the other pages (`regard.report.pages`), and no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader
from numpy.typing import NDArray

from regard.report.pages.templates import page_values, templates
from regard.report.text.characters import one_line
from regard.report.text.highlights import Row, concentration, rows, top_words, weight_text
from regard.report.text.numbers import written
from regard_lab.towers.explanation import TERMS, ExplainedPair, ExplainedSide
from regard_lab.towers.folder import rating_formula, scores
from regard_lab.towers.ratings import GROUPS, Rating, ReviewContext
from regard_lab.towers.trained_towers import TrainedTowers

KNOWN = {"both": "both known", "user": "only the user known", "item": "only the item known", "neither": "neither known"}
UNNAMED = "unknown"


@dataclass(frozen=True)
class MeasureRow:
    name: str
    count: int
    rmse: float
    mae: float


@dataclass(frozen=True)
class SideView:
    title: str
    name: str
    note: str
    rows: list[Row]
    top: list[tuple[str, str]]
    concentration: str


@dataclass(frozen=True)
class PairView:
    rating: float
    actual: float | None
    terms: list[tuple[str, float]]
    user: SideView
    item: SideView


@dataclass(frozen=True)
class PairsView:
    title: str
    facts: dict[str, str]
    data: str  # where the ratings come from
    rated: int  # ratings whose truth is known
    measures: list[MeasureRow]  # empty if there are none
    pairs: list[PairView]
    of: int  # ratings, of which the pairs are shown
    order: str  # how they were chosen
    relu: bool


def measure_rows(
    predictions: NDArray[np.float64], ratings: Sequence[Rating], contexts: Sequence[ReviewContext]
) -> list[MeasureRow]:
    """All ratings whose truth is known, and each group of them, by what is known. Empty groups are left out."""
    errors = predictions - np.array([rating.value for rating in ratings])
    rated = np.isfinite(errors)
    groups = np.array([context.group for context in contexts])
    parts = [("all", rated), *((KNOWN[group], rated & (groups == group)) for group in GROUPS)]
    return [
        MeasureRow(
            name, int(part.sum()), float(np.sqrt(np.mean(errors[part] ** 2))), float(np.abs(errors[part]).mean())
        )
        for name, part in parts
        if part.any()
    ]


def page(
    trained: TrainedTowers,
    title: str,
    data: str,
    measures: list[MeasureRow],
    explained: Sequence[ExplainedPair],
    of: int,
) -> str:
    """The whole document; write it as UTF-8. `of`: the number of ratings that the explained ones were chosen from."""
    pairs = [view_of(pair) for pair in explained]
    order = "the largest errors first" if measures else "the first ones"
    rated = measures[0].count if measures else 0
    relu = trained.model.form.relu
    view = PairsView(title, facts(trained), data, rated, measures, pairs, of, order, relu)
    return environment().get_template("pairs.html").render(page_values(view, ""))


@cache
def environment() -> Environment:
    """The templates of all pages, and ours."""
    shared = templates()
    assert isinstance(shared.loader, BaseLoader)
    return shared.overlay(loader=ChoiceLoader([PackageLoader("regard_lab.towers", ""), shared.loader]))


def facts(trained: TrainedTowers) -> dict[str, str]:
    model, known = trained.config.model, trained.known
    limit = "" if trained.most is None else f", at most {trained.most} per side"
    return {
        "model": f"two towers, {model.encoder}, {model.pooling} pooling",
        "rating": rating_formula(trained.model.form),
        "reviews to read": f"{len(known.ratings):,} of {len(known.by_item):,} items by {len(known.by_user):,} users{limit}",
        **{split: scores(trained.metrics, split) for split in ("dev", "test") if split in trained.metrics},
    }


def view_of(pair: ExplainedPair) -> PairView:
    terms = [(title, pair.terms[name]) for name, title in TERMS.items() if name in pair.terms]
    sides = side_view("Reviews by", "user", pair.user), side_view("Reviews of", "item", pair.item)
    return PairView(pair.rating, pair.actual, terms, *sides)


def side_view(title: str, kind: str, side: ExplainedSide) -> SideView:
    explanation = side.explanation
    return SideView(
        title,
        UNNAMED if side.name is None else side.name,
        note_of(kind, side),
        review_rows(side),
        top_words(explanation),
        concentration(explanation),
    )


def note_of(kind: str, side: ExplainedSide) -> str:
    """A caution about what is missing, or ""."""
    notes = [] if side.reviews else [f"There are no reviews to read, so the {kind}’s vector of them is zero."]
    if side.known_id is False:
        notes.append(f"The {kind} was not in training; the mean of all {kind}s’ vectors is used.")
    return " ".join(notes)


def review_rows(side: ExplainedSide) -> list[Row]:
    """The sentences, with a line above the first one of each review that says whose it is."""
    titled: list[Row] = []
    number = 0
    for row in rows(side.explanation) if side.reviews else []:
        if row.part:
            review, part = side.reviews[number], side.explanation.parts[number]
            number += 1
            user, item = (UNNAMED if name is None else one_line(name) for name in (review.user, review.item))
            row = replace(
                row, part=f"{user} on {item}, rated {written(review.value)}, weight {weight_text(part.weight)}"
            )
        titled.append(row)
    return titled
