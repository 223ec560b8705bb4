"""The input of every measure: a text, the spans of its words, and one score per word, from whatever source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.records import Explanation, Span

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]


class Scored(NamedTuple):
    """A text with a score for each of its words; larger scores mean more important words."""

    text: str
    spans: Sequence[Span]  # of the words, in order, without overlap
    scores: Sequence[float] | Doubles
    label: int | None = None  # the number of the true class, if known


def from_explanation(explanation: Explanation, classes: Sequence[str] | None = None) -> Scored:
    """The words and weights of an explanation; its label as an index of the classes, by default those of the prediction."""
    names = list(explanation.prediction.probabilities if classes is None else classes)
    label, number = explanation.label, None
    if label is not None and names:
        if str(label) not in names:
            raise InputError(f"label of an explanation: expected one of {', '.join(map(repr, names))}, got {label!r}")
        number = names.index(str(label))
    spans = tuple((token.start, token.end) for token in explanation.tokens)
    scores = np.array([token.weight for token in explanation.tokens], dtype=np.float64)
    return Scored(explanation.text, spans, scores, number)


def check(scored: Sequence[Scored], name: str = "attribution") -> None:
    """Raise an InputError, with the number of the text (from 1), if words or scores are invalid."""
    for number, one in enumerate(scored, 1):
        if len(one.spans) != len(one.scores):
            raise InputError(
                f"{name}, text {number}: expected one score per word, got {len(one.scores)} for {len(one.spans)} words"
            )
        if not np.isfinite(np.asarray(one.scores, dtype=np.float64)).all():
            raise InputError(f"{name}, text {number}: expected finite scores, got NaN or infinity")
        last = 0
        for start, end in one.spans:
            if not last <= start < end <= len(one.text):
                raise InputError(
                    f"{name}, text {number}: expected words in order, without overlap and within the text, "
                    f"got [{start}, {end}) after character {last} of {len(one.text)}"
                )
            last = end


def check_alike(attributions: Mapping[str, Sequence[Scored]]) -> Sequence[Scored]:
    """The first attribution, after checking that all are of the same words of the same texts."""
    if not attributions:
        raise InputError("attributions: expected at least one, by name, got none")
    (first, expected), *others = attributions.items()
    check(expected, first)
    for name, scored in others:
        if len(scored) != len(expected):
            raise InputError(f"{name}: expected {len(expected)} texts as in {first}, got {len(scored)}")
        for number, (one, other) in enumerate(zip(expected, scored, strict=True), 1):
            if one.text != other.text or tuple(map(tuple, one.spans)) != tuple(map(tuple, other.spans)):
                raise InputError(f"{name}, text {number}: expected the same text and words as in {first}, got others")
        check(scored, name)
    return expected


def labels_of(scored: Sequence[Scored]) -> Ints:
    """(texts,) the number of each text's true class, −1 if unknown."""
    return np.array([-1 if one.label is None else one.label for one in scored], dtype=np.int64)
