"""What an explainer finds of one text, and the record that is made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Outline
from regard.explain.attributed import Attributed
from regard.explain.reading import Reading
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.records import SentenceScore

Doubles = NDArray[np.float64]


class Found(NamedTuple):
    scores: Doubles  # (words,)
    logits: Doubles  # (C,) of the whole text
    target: int
    forward: int  # passes over this text, or over it without some words
    backward: int = 0
    facts: Mapping[str, Any] = {}
    above: tuple[Doubles, ...] | None = None  # scores of sentences, and of parts; None: the sums of their words'


def attributed(trained: Trained, method: str, reading: Reading, found: Found, seconds: float) -> Attributed:
    outline, task = reading.outline, trained.task
    above = sums(reading, found.scores) if found.above is None else found.above
    sentences, parts = higher_units(outline, above)
    return Attributed(
        reading.text,
        method,
        tuple(outline.words),
        found.scores,
        found.target if isinstance(task, Classes) else None,
        task.predictions(task.answers(found.logits[None]))[0],
        tuple(trained.tokenizer.known(reading.text, outline.words, reading.indexed)),
        sentences,
        parts,
        {"forward": found.forward, "backward": found.backward, "seconds": seconds},
        dict(found.facts),
    )


def higher_units(
    outline: Outline, above: Sequence[Doubles]
) -> tuple[tuple[SentenceScore, ...], tuple[SentenceScore, ...]]:
    """Sentences and parts with their scores; none of those that the model does not read."""
    pairs = zip((outline.sentences, outline.parts), above, strict=False)
    units = [
        tuple(SentenceScore(a, b, float(w)) for (a, b), w in zip(spans, scores, strict=True)) for spans, scores in pairs
    ]
    sentences, parts = (*units, (), ())[:2]
    return sentences, parts


def sums(reading: Reading, scores: Doubles) -> tuple[Doubles, ...]:
    """Of the words of each sentence, and of the sentences of each part."""
    found: list[Doubles] = []
    for counts in reading.outline.shape:
        owner = np.repeat(np.arange(len(counts)), counts)
        scores = np.asarray(np.bincount(owner, scores, len(counts)), dtype=np.float64)
        found.append(scores)
    return tuple(found)
