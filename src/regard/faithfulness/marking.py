"""Which words people marked: those that share a character with a marked span."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import index

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.faithfulness.scored import Scored, check
from regard.records import Span


def marked(scored: Sequence[Scored], evidence: Sequence[Sequence[Span]]) -> list[NDArray[np.bool_]]:
    """For each text, (words,) True where evidence lies."""
    if len(scored) != len(evidence):
        raise InputError(f"evidence: of {len(evidence)} texts, but {len(scored)} are scored; as many are accepted")
    check(scored)
    found = []
    for place, (one, spans) in enumerate(zip(scored, evidence, strict=True), 1):
        found.append(marked_words(one.spans, whole_spans(spans, len(one.text), f"evidence, text {place}")))
    return found


def whole_spans(given: object, length: int, where: str) -> list[Span]:
    """Spans within a text of so many characters; anything else is refused."""
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise InputError(f"{where}: {given!r} is given; a list of spans, each [start, end), is accepted")
    found = []
    for span in given:
        try:
            start, end = map(index, span)
        except (TypeError, ValueError):
            raise InputError(f"{where}: {span!r} is no span; two whole numbers, [start, end), are accepted") from None
        if not 0 <= start <= end <= length:
            raise InputError(f"{where}: [{start}, {end}) of {length} characters; spans within the text are accepted")
        found.append((start, end))
    return found


def marked_words(words: Sequence[Span], spans: Sequence[Span]) -> NDArray[np.bool_]:
    own = np.array(words, dtype=np.int64).reshape(-1, 2)
    low, high = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    # an empty span marks nothing, wherever it stands
    meets = (low < own[:, 1:]) & (own[:, :1] < high) & (low < high)  # (words, spans)
    return np.asarray(meets.any(axis=1))


def of_polarity(spans: Sequence[tuple[int, int, str | int]], label: str | int) -> list[Span]:
    """Of spans that carry a class each, those of the text's own; 1 and "1" are one class, as they are written alike."""
    return [(start, end) for start, end, polarity in spans if str(polarity) == str(label)]
