"""Explanations to draw: every word of a text with its weight (what the model looked at) and its signed contribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from regard.explain.attribute import checked_method
from regard.explain.explainers import EXPLAINERS, default_contribution, default_method, from_tables, is_fast
from regard.explain.flat_explanations import explain_flat
from regard.explain.flat_texts import flat_texts
from regard.explain.leave_one_out import joint_effects
from regard.explain.reading import Ints, Reading, check_texts, read
from regard.explain.scored_text import Groups, ScoredText, record, repeats
from regard.explain.targets import PREDICTED, Target, numbers
from regard.explain.word_scores import WordScores
from regard.models.model import Model
from regard.models.trained import Trained
from regard.records import Explanation, Label, ReadAs

CHUNK = 512  # texts held at a time, so that a large file streams


def explain(
    trained: Model,
    texts: Sequence[str],
    labels: Sequence[Label | None] | None = None,
    method: str | None = None,
    target: Target = None,
) -> Iterator[Explanation]:
    """One explanation per text, in order.

    `method` names an explainer: a signed one gives the contributions, another the weights. What is not named is the model's
    default: its attention, and leaving words out or its closest cheap substitute. `target` is the class that contributions
    are about, the predicted one if None.
    """
    weigh, sign = chosen_methods(trained, method)
    check_texts(texts)
    if is_fast(trained, weigh) and sign == "leave_one_out":
        assert isinstance(trained, Trained)
        yield from explain_flat(trained, texts, labels, numbers(trained.task, target, len(texts)), (weigh, sign))
        return
    for start in range(0, len(texts), CHUNK):
        part = texts[start : start + CHUNK]
        true = [None] * len(part) if labels is None else labels[start : start + CHUNK]
        targets = numbers(trained.task, target, len(part))
        for text, label, one in zip(part, true, read_model(trained, part, targets, weigh, sign), strict=True):
            yield record(trained.task, text, label, one, (weigh, sign))


def chosen_methods(trained: Model, method: str | None) -> tuple[str, str]:
    """The explainers of weights and of contributions."""
    weigh, sign = default_method(trained), default_contribution(trained)
    if method is None:
        return weigh, sign
    explainer = checked_method(trained, method, {})
    if not explainer.signed:
        return method, sign
    return (method if trained.is_opaque else weigh), method


def read_model(trained: Model, texts: Sequence[str], targets: Ints, weigh: str, sign: str) -> Iterator[ScoredText]:
    readings = read(trained, texts)
    contributions = scores_by(trained, sign, readings, targets)
    weights = contributions if weigh == sign else scores_by(trained, weigh, readings, targets)
    groups = [repeats(one.text, one.outline.words) for one in readings]
    joint = joint_contributions(trained, readings, contributions, groups, sign)
    read_as = ways_of_reading(trained, readings)
    columns = zip(readings, read_as, weights, contributions, groups, joint, strict=True)
    yield from (ScoredText(one.outline, ways, w, c, of_text, values) for one, ways, w, c, of_text, values in columns)


def scores_by(trained: Model, method: str, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    if (fast := from_tables(trained, method)) is not None:
        return fast(trained, [one.text for one in readings], targets)
    return EXPLAINERS[method].function(trained, readings, targets)


def ways_of_reading(trained: Any, readings: Sequence[Reading]) -> list[Sequence[ReadAs]]:
    """How the model reads each word of each text."""
    if trained.is_flat:
        predicted = np.full(len(readings), PREDICTED)
        return [one.reading for one in flat_texts(trained, [one.text for one in readings], predicted)]
    known = (trained.tokenizer.known(one.text, one.outline.words, one.indexed) for one in readings)
    return [["word" if is_known else "unknown" for is_known in of_text] for of_text in known]


def joint_contributions(
    trained: Model,
    readings: Sequence[Reading],
    contributions: Sequence[WordScores],
    groups: Sequence[Groups],
    sign: str,
) -> list[list[float]]:
    """What repeated words contribute together. The scores of all methods but leave-one-out are additive."""
    if sign == "leave_one_out":
        return joint_effects(trained, readings, np.array([one.target for one in contributions]), groups)
    rows = zip(contributions, groups, strict=True)
    return [[float(one.scores[[*group]].sum()) for group in of_text] for one, of_text in rows]
