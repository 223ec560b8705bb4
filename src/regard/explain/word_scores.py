"""Scores of words: what an explainer returns for a text, and the record that users get of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Outline
from regard.errors import InputError
from regard.explain.targets import PREDICTED
from regard.models.tasks import Classes, Named
from regard.records import Explanation, Label, Prediction, SentenceScore, Span, TokenScore

if TYPE_CHECKING:
    from regard.models.model import Model

Doubles = NDArray[np.float64]
Side = Literal["for", "against", "both"]
SIDES: tuple[Side, ...] = ("for", "against", "both")


class WordScores(NamedTuple):
    """What an explainer returns for one text."""

    scores: Doubles  # (words,)
    logits: Doubles  # (C,) of the whole text
    target: int  # PREDICTED where no class was named and the explainer needs none
    forward: int  # passes over this text, or over it without some words
    backward: int = 0
    facts: Mapping[str, Any] = {}
    above: tuple[Doubles, ...] | None = None  # scores of sentences, and of parts; None: the sums of their words' scores
    are_weights: bool = False  # no score is negative, and they sum to 1


@dataclass(frozen=True, slots=True, eq=False)
class Attributed:
    """The word scores of one text. Larger scores are stronger evidence for the target; if the method is signed, negative
    scores are evidence against it."""

    text: str
    method: str
    spans: tuple[Span, ...]  # of the words that the model read, in order
    scores: Doubles  # (words,)
    target: int | None  # the number of the class that scores are about; None for a regression
    prediction: Prediction
    known: tuple[bool, ...]  # (words,) False where the model has no vector for this word
    sentences: tuple[SentenceScore, ...] = ()  # `weight` is their signed score; empty for a flat model
    parts: tuple[SentenceScore, ...] = ()  # of a text with three levels
    cost: Mapping[str, float] = field(default_factory=dict)  # forward, backward: passes; seconds: mean over the texts
    facts: Mapping[str, Any] = field(default_factory=dict)  # what the method reports about its work: convergence, r2 …
    are_weights: bool = False  # scores sum to 1 already

    def scored(self, label: int | None = None) -> tuple[str, tuple[Span, ...], Doubles, int | None]:
        """Text, spans, scores, label: what the measures of faithfulness take, `Scored(*attributed.scored())`."""
        return self.text, self.spans, self.scores, label

    def explanation(self, label: Label | None = None, side: Side = "for") -> Explanation:
        """The record that pages show. Its weights are not negative and sum to 1: shares of the evidence for the target,
        against it, or both; all 0 if there is none."""
        if side not in SIDES:
            raise InputError(f"side: expected one of {', '.join(SIDES)}, got {side!r}")
        weights = self.shares(self.scores, side).tolist()
        text, rows = self.text, zip(self.spans, weights, self.known, strict=True)
        tokens = [TokenScore(text[a:b], a, b, weight, known) for (a, b), weight, known in rows]
        sentences, parts = (self.units_of(side, units) for units in (self.sentences, self.parts))
        return Explanation(text, self.prediction, tuple(tokens), sentences, self.method, label, parts)

    def units_of(self, side: Side, units: Sequence[SentenceScore]) -> tuple[SentenceScore, ...]:
        if not units:
            return ()
        weights = self.shares(np.array([unit.weight for unit in units], dtype=np.float64), side).tolist()
        return tuple(SentenceScore(unit.start, unit.end, w) for unit, w in zip(units, weights, strict=True))

    def shares(self, scores: Doubles, side: Side) -> Doubles:
        if self.are_weights and side != "against":
            return scores  # dividing by a sum that is 1 up to rounding would only change their last digits
        return shares(scores, side)


def shares(scores: Doubles, side: Side) -> Doubles:
    """The scores of one side without their sign, divided by their sum."""
    sized = {"for": np.maximum(scores, 0), "against": np.maximum(-scores, 0), "both": np.abs(scores)}[side]
    total = sized.sum()
    return np.asarray(sized / total if total > 0 else np.zeros_like(sized))


Words = tuple[Outline, Sequence[bool]]  # where the words of a text are, and which of them the model knows


def attributed(
    trained: Model,
    method: str,
    texts: Sequence[str],
    words: Iterable[Words],
    scores: Sequence[WordScores],
    seconds: float,
) -> Iterator[Attributed]:
    """One record per text, yielded one by one: a caller that goes through a large file needs few of them in memory."""
    if not texts:
        return
    task = trained.task
    has_classes = isinstance(task, Named)
    logits = np.array([one.logits for one in scores])
    if not np.isfinite(logits).all():
        raise InputError("the weights of the model are too large: its predictions are not finite numbers")
    answers = task.answers(logits)
    predictions = task.predictions(answers)
    predicted_classes = (task.chosen(answers) if isinstance(task, Classes) else answers.argmax(1)).tolist()
    rows = zip(texts, words, scores, predictions, predicted_classes, strict=True)
    for text, (outline, known), one, prediction, predicted_class in rows:
        target = predicted_class if one.target == PREDICTED else one.target
        sentences, parts = higher_units(outline, sums(outline, one.scores) if one.above is None else one.above)
        yield Attributed(
            text,
            method,
            tuple(outline.words),
            one.scores,
            target if has_classes else None,
            prediction,
            tuple(known),
            sentences,
            parts,
            {"forward": one.forward, "backward": one.backward, "seconds": seconds},
            dict(one.facts),
            one.are_weights,
        )


def higher_units(
    outline: Outline, above: Sequence[Doubles]
) -> tuple[tuple[SentenceScore, ...], tuple[SentenceScore, ...]]:
    """Sentences and parts with their scores; empty for the levels that the model does not read."""
    pairs = zip((outline.sentences, outline.parts), above, strict=False)
    units = [
        tuple(SentenceScore(a, b, float(w)) for (a, b), w in zip(spans, scores, strict=True)) for spans, scores in pairs
    ]
    sentences, parts = (*units, (), ())[:2]
    return sentences, parts


def sums(outline: Outline, scores: Doubles) -> tuple[Doubles, ...]:
    """The scores of each sentence's words summed, and those of each part's sentences."""
    totals: list[Doubles] = []
    for counts in outline.shape:
        owner = np.repeat(np.arange(len(counts)), counts)
        scores = np.asarray(np.bincount(owner, scores, len(counts)), dtype=np.float64)
        totals.append(scores)
    return tuple(totals)
