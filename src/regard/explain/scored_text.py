"""What is known about the words of a text, and the record that users get of it; without PyTorch and numba."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.data.tokenizer import Outline
from regard.errors import InputError
from regard.explain.word_scores import WordScores, shares, sums
from regard.models.tasks import Named, Regression, Task
from regard.records import Explanation, Label, ReadAs, RepeatedWord, SentenceScore, Span, TokenScore

Groups = list[tuple[int, ...]]


class ScoredText(NamedTuple):
    """What is known about a text before it becomes a record."""

    outline: Outline
    reading: Sequence[ReadAs]  # (words,)
    weights: WordScores
    contributions: WordScores
    groups: Groups
    joint: Sequence[float]  # (groups,)


def repeats(text: str, words: Sequence[Span]) -> Groups:
    """The words that occur more than once, each as the indices of its occurrences; upper and lower case are the same."""
    lower = text.lower() if text.isascii() else ""
    positions: dict[str, list[int]] = {}
    for index, (start, end) in enumerate(words):
        positions.setdefault(lower[start:end] or text[start:end].lower(), []).append(index)
    return [tuple(indices) for indices in positions.values() if len(indices) > 1]


def record(task: Task, text: str, label: Label | None, scored: ScoredText, methods: tuple[str, str]) -> Explanation:
    """`methods`: what the weights are, and what the contributions are."""
    outline = scored.outline
    weights, contributions = scored.weights, scored.contributions
    if not np.isfinite(contributions.logits).all():
        raise InputError("the weights of the model are too large: its predictions are not finite numbers")
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
        target=task.classes[contributions.target] if isinstance(task, Named) else None,
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
