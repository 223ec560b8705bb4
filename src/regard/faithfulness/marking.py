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
    """Per text, (words,) True where a word is evidence."""
    if len(scored) != len(evidence):
        raise InputError(f"evidence: expected spans for {len(scored)} texts, got {len(evidence)}")
    check(scored)
    masks = []
    for number, (one, spans) in enumerate(zip(scored, evidence, strict=True), 1):
        masks.append(marked_words(one.spans, checked_spans(spans, len(one.text), f"evidence, text {number}")))
    return masks


def checked_spans(spans: object, length: int, where: str) -> list[Span]:
    """Spans within a text of `length` characters, or an InputError."""
    if not isinstance(spans, Iterable) or isinstance(spans, str | Mapping):
        raise InputError(f"{where}: expected a list of spans [start, end), got {spans!r}")
    checked = []
    for span in spans:
        try:
            start, end = map(index, span)
        except (TypeError, ValueError):
            raise InputError(f"{where}: expected a span of two whole numbers, [start, end), got {span!r}") from None
        if not 0 <= start <= end <= length:
            raise InputError(f"{where}: expected spans within the text of {length} characters, got [{start}, {end})")
        checked.append((start, end))
    return checked


def marked_words(words: Sequence[Span], spans: Sequence[Span]) -> NDArray[np.bool_]:
    bounds = np.array(words, dtype=np.int64).reshape(-1, 2)
    low, high = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    # an empty span marks nothing
    overlaps = (low < bounds[:, 1:]) & (bounds[:, :1] < high) & (low < high)  # (words, spans)
    return np.asarray(overlaps.any(axis=1))


def of_polarity(spans: Sequence[tuple[int, int, str | int]], label: str | int) -> list[Span]:
    """Of spans with a class each, those of the text's class; 1 and "1" are the same class."""
    return [(start, end) for start, end, polarity in spans if str(polarity) == str(label)]
