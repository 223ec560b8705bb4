"""Explanations to draw: every word of a text with its weight (what the model looked at) and its signed contribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Outline
from regard.explain.attribute import checked_method
from regard.explain.explainers import EXPLAINERS, default_contribution, default_method, is_fast
from regard.explain.flat_texts import flat_texts
from regard.explain.leave_one_out import joint_effects
from regard.explain.reading import Ints, Reading, check_texts, read
from regard.explain.targets import PREDICTED, Target, numbers
from regard.explain.word_scores import WordScores, shares, sums
from regard.models.model import Model
from regard.models.tasks import Classes, Regression, Task
from regard.records import Explanation, ReadAs, RepeatedWord, SentenceScore, Span, TokenScore

CHUNK = 512  # texts held at a time, so that a large file streams

Doubles = NDArray[np.float64]
Groups = list[tuple[int, ...]]


class Scored(NamedTuple):
    """What is known about a text before it becomes a record."""

    outline: Outline
    reading: Sequence[ReadAs]  # (words,)
    weights: WordScores
    contributions: WordScores
    groups: Groups
    joint: Sequence[float]  # (groups,)


def explain(
    trained: Model,
    texts: Sequence[str],
    labels: Sequence[str | float | None] | None = None,
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
    for start in range(0, len(texts), CHUNK):
        part = texts[start : start + CHUNK]
        true = [None] * len(part) if labels is None else labels[start : start + CHUNK]
        targets = numbers(trained.task, target, len(part))
        scored = read_tables if is_fast(trained, weigh) and sign == "leave_one_out" and trained.is_flat else read_model
        for text, label, one in zip(part, true, scored(trained, part, targets, weigh, sign), strict=True):
            yield record(trained, text, label, one, (weigh, sign))


def chosen_methods(trained: Model, method: str | None) -> tuple[str, str]:
    """The explainers of weights and of contributions."""
    weigh, sign = default_method(trained), default_contribution(trained)
    if method is None:
        return weigh, sign
    explainer = checked_method(trained, method, {})
    if not explainer.signed:
        return method, sign
    return (method if trained.is_opaque else weigh), method


def read_tables(trained: Any, texts: Sequence[str], targets: Ints, weigh: str, sign: str) -> Iterator[Scored]:
    """For a flat model: weights and contributions in one pass, without PyTorch."""
    outlines = [trained.tokenizer.outline(text) for text in texts]
    groups = [repeats(text, outline.words) for text, outline in zip(texts, outlines, strict=True)]
    for outline, of_text, one in zip(outlines, groups, flat_texts(trained, texts, targets, groups), strict=True):
        weights = WordScores(one.weights, one.logits, one.target, 1, above=(), are_weights=True)
        effects = WordScores(one.effects, one.logits, one.target, 1, above=())
        yield Scored(outline, one.reading, weights, effects, of_text, one.joint.tolist())


def read_model(trained: Model, texts: Sequence[str], targets: Ints, weigh: str, sign: str) -> Iterator[Scored]:
    readings = read(trained, texts)
    contributions = scores_by(trained, sign, readings, targets)
    weights = contributions if weigh == sign else scores_by(trained, weigh, readings, targets)
    groups = [repeats(one.text, one.outline.words) for one in readings]
    joint = joint_contributions(trained, readings, contributions, groups, sign)
    read_as = ways_of_reading(trained, readings)
    columns = zip(readings, read_as, weights, contributions, groups, joint, strict=True)
    yield from (Scored(one.outline, ways, w, c, of_text, values) for one, ways, w, c, of_text, values in columns)


def scores_by(trained: Model, method: str, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    explainer = EXPLAINERS[method]
    if trained.is_flat and explainer.from_tables is not None:
        return explainer.from_tables(trained, [one.text for one in readings], targets)
    return explainer.function(trained, readings, targets)


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


def repeats(text: str, words: Sequence[Span]) -> Groups:
    """The words that occur more than once, each as the indices of its occurrences; upper and lower case are the same."""
    lower = text.lower() if text.isascii() else ""
    positions: dict[str, list[int]] = {}
    for index, (start, end) in enumerate(words):
        positions.setdefault(lower[start:end] or text[start:end].lower(), []).append(index)
    return [tuple(indices) for indices in positions.values() if len(indices) > 1]


def record(
    trained: Model, text: str, label: str | float | None, scored: Scored, methods: tuple[str, str]
) -> Explanation:
    task, outline = trained.task, scored.outline
    weights, contributions = scored.weights, scored.contributions
    (prediction,) = task.predictions(task.answers(contributions.logits[None]))
    rows = zip(outline.words, word_shares(weights), contributions.scores.tolist(), scored.reading, strict=True)
    tokens = tuple(TokenScore(text[a:b], a, b, w, how == "word", c, how) for (a, b), w, c, how in rows)
    sentences, parts = higher_units(outline, weights, contributions)
    repeated = tuple(
        RepeatedWord(text[slice(*outline.words[group[0]])], group, value)
        for group, value in zip(scored.groups, scored.joint, strict=True)
    )
    return Explanation(
        text=text,
        prediction=prediction,
        tokens=tokens,
        sentences=sentences,
        method=methods[0],
        label=label,
        parts=parts,
        contribution_method=methods[1],
        target=task.classes[contributions.target] if isinstance(task, Classes) else None,
        repeated=repeated,
        strong=word_strength(task),
    )


def word_strength(task: Task) -> float:
    """The size from which a contribution is drawn at full strength."""
    return task.scale / 2 if isinstance(task, Regression) else 1.0


def word_shares(weights: WordScores) -> list[float]:
    shared: list[float] = (weights.scores if weights.are_weights else shares(weights.scores, "for")).tolist()
    return shared


def higher_units(
    outline: Outline, weights: WordScores, contributions: WordScores
) -> tuple[tuple[SentenceScore, ...], tuple[SentenceScore, ...]]:
    """Sentences and parts; empty for the levels that the model does not read."""
    by_weight, by_contribution = (
        sums(outline, one.scores) if one.above is None else one.above for one in (weights, contributions)
    )
    units = []
    for spans, w, c in zip((outline.sentences, outline.parts), by_weight, by_contribution, strict=False):
        shared = w if weights.are_weights else shares(np.asarray(w), "for")
        rows = zip(spans, shared.tolist(), c.tolist(), strict=True)
        units.append(tuple(SentenceScore(a, b, weight, contribution) for (a, b), weight, contribution in rows))
    sentences, parts = (*units, (), ())[:2]
    return sentences, parts
