"""What an explainer says of a text: a number a word, what they are about, and what it cost to find them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.records import Explanation, Prediction, SentenceScore, Span, TokenScore

Doubles = NDArray[np.float64]
Side = Literal["for", "against", "both"]
SIDES: tuple[Side, ...] = ("for", "against", "both")


@dataclass(frozen=True, slots=True, eq=False)
class Attributed:
    """A larger score speaks more for the target; below zero, where the method has a sign, it speaks against it."""

    text: str
    method: str
    spans: tuple[Span, ...]  # of the words that the model read, in order
    scores: Doubles  # (words,)
    target: int | None  # the number of the class that scores are about; None: of a number there is nothing to choose
    prediction: Prediction
    known: tuple[bool, ...]  # (words,) False where the model has no vector of the word's own
    sentences: tuple[SentenceScore, ...] = ()  # their scores as weights, with their sign; empty for a flat model
    parts: tuple[SentenceScore, ...] = ()  # of a text with three levels
    cost: Mapping[str, float] = field(default_factory=dict)  # forward, backward: passes over it; seconds: its share
    facts: Mapping[str, Any] = field(default_factory=dict)  # what the method knows of its own work: convergence, r2 …

    def scored(self, label: int | None = None) -> tuple[str, tuple[Span, ...], Doubles, int | None]:
        """Text, spans, scores, label: what the measures of faithfulness take, `Scored(*attributed.scored())`."""
        return self.text, self.spans, self.scores, label

    def explanation(self, label: str | float | None = None, side: Side = "for") -> Explanation:
        """The record that is drawn. Its weights have no sign and sum to 1: shares of what speaks for the target, of what
        speaks against it, or of both; all 0 where nothing does."""
        if side not in SIDES:
            raise InputError(f"side = {side!r}: accepted are {', '.join(SIDES)}")
        weights = shares(self.scores, side)
        tokens = tuple(
            TokenScore(self.text[a:b], a, b, float(weight), known)
            for (a, b), weight, known in zip(self.spans, weights, self.known, strict=True)
        )
        sentences, parts = (of_side(units, side) for units in (self.sentences, self.parts))
        return Explanation(self.text, self.prediction, tokens, sentences, self.method, label, parts)


def shares(scores: Doubles, side: Side) -> Doubles:
    """Without a sign, summing to 1."""
    sized = {"for": np.maximum(scores, 0), "against": np.maximum(-scores, 0), "both": np.abs(scores)}[side]
    total = sized.sum()
    return np.asarray(sized / total if total > 0 else np.zeros_like(sized))


def of_side(units: Sequence[SentenceScore], side: Side) -> tuple[SentenceScore, ...]:
    weights = shares(np.array([unit.weight for unit in units], dtype=np.float64), side)
    return tuple(SentenceScore(unit.start, unit.end, float(w)) for unit, w in zip(units, weights, strict=True))
