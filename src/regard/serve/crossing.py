"""What is said of a text without some of its words, told at the places of the whole text.

Crossed out means never written: the words are cut out of the text itself and what is left is read anew.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from regard.records import SentenceScore, Span

AHEAD = 50  # words that are looked at for one that is not the next


def places_of(
    text: str, spans: Sequence[Span], left: str, found: Sequence[Span], crossed: set[int]
) -> list[int | None]:
    """For each word that was found in what is left, which word of the whole text it is.

    None where it is none of them: neighbours of a cut can make a new word, as when an emoji's second half goes.
    """
    rest = [place for place in range(len(spans)) if place not in crossed]
    told: list[int | None] = []
    at = 0
    for start, end in found:
        word = left[start:end]
        near = range(at, min(at + AHEAD, len(rest)))
        reached = next((k for k in near if text[slice(*spans[rest[k]])] == word), None)
        told.append(None if reached is None else rest[reached])
        at = at if reached is None else reached + 1
    return told


def units_of(
    units: Sequence[SentenceScore],
    found: Sequence[Span],
    places: Sequence[int | None],
    spans: Sequence[Span],
    whole: Sequence[Span],
) -> list[SentenceScore]:
    """Sentences (or parts) of what is left at their places in the whole text.

    Each takes the crossed words at its edges with it, as far as a sentence of the whole text, `whole`, reaches.
    """
    starts, firsts, lasts = [a for a, _ in found], [a for a, _ in whole], [b for _, b in whole]
    told: list[SentenceScore] = []
    for unit in units:
        own = places[bisect_left(starts, unit.start) : bisect_left(starts, unit.end)]
        kept = [place for place in own if place is not None]
        if not kept:
            continue
        first, last = spans[kept[0]][0], spans[kept[-1]][1]
        start, end = firsts[bisect_right(firsts, first) - 1], lasts[bisect_left(lasts, last)]
        if told and told[-1].end > start:  # a cut made two of one
            start = first
            told[-1] = SentenceScore(told[-1].start, min(told[-1].end, first), told[-1].weight)
        told.append(SentenceScore(start, end, unit.weight))
    return told
