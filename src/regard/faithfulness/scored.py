"""What every measure looks at: a text, where its words stand, and one number a word. Whose numbers they are is not asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.records import Explanation, Span

Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Scored(NamedTuple):
    """A text with a number for each of its words; larger means that the word matters more."""

    text: str
    spans: Sequence[Span]  # of the words, in order, none within another
    scores: Sequence[float] | Doubles
    label: int | None = None  # the number of the true class, where it is known


def from_explanation(explanation: Explanation, classes: Sequence[str] | None = None) -> Scored:
    """A record's words and weights. The label's number is its place among the classes, which the record names by itself."""
    names = list(explanation.prediction.probabilities if classes is None else classes)
    label, number = explanation.label, None
    if label is not None and names:
        if str(label) not in names:
            raise InputError(
                f"label {label!r} of an explanation is not a class; {', '.join(map(repr, names))} are accepted"
            )
        number = names.index(str(label))
    spans = tuple((token.start, token.end) for token in explanation.tokens)
    scores = np.array([token.weight for token in explanation.tokens], dtype=np.float64)
    return Scored(explanation.text, spans, scores, number)


def check(scored: Sequence[Scored], name: str = "attribution") -> None:
    """Refuses what can't be measured, by the text's place (the first is 1)."""
    for place, one in enumerate(scored, 1):
        if len(one.spans) != len(one.scores):
            raise InputError(
                f"{name}, text {place}: {len(one.spans)} words and {len(one.scores)} scores; one score a word is accepted"
            )
        if not np.isfinite(np.asarray(one.scores, dtype=np.float64)).all():
            raise InputError(f"{name}, text {place}: a score is not finite; finite numbers are accepted")
        last = 0
        for start, end in one.spans:
            if not last <= start < end <= len(one.text):
                raise InputError(
                    f"{name}, text {place}: a word at [{start}, {end}) after character {last} of {len(one.text)};"
                    " words in order, without overlap and within the text, are accepted"
                )
            last = end


def check_alike(attributions: Mapping[str, Sequence[Scored]]) -> Sequence[Scored]:
    """The first of the attributions, after a look whether all are of the same words of the same texts."""
    if not attributions:
        raise InputError("attributions: none was given; at least one, by its name, is accepted")
    (first, own), *others = attributions.items()
    check(own, first)
    for name, scored in others:
        if len(scored) != len(own):
            raise InputError(f"{name}: {len(scored)} texts, but {first} has {len(own)}; the same texts are accepted")
        for place, (one, other) in enumerate(zip(own, scored, strict=True), 1):
            if one.text != other.text or tuple(map(tuple, one.spans)) != tuple(map(tuple, other.spans)):
                raise InputError(
                    f"{name}, text {place}: not the words that {first} has; attributions of the same words of the same"
                    " texts are accepted"
                )
        check(scored, name)
    return own


def labels_of(scored: Sequence[Scored]) -> Numbers:
    """(texts,) the number of each text's true class, −1 where it is not known."""
    return np.array([-1 if one.label is None else one.label for one in scored], dtype=np.int64)
