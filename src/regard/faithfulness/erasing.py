"""A text without some of its words, with only some of them, or with another word in their places.

Words are cut out of the text itself, by the characters where they stand, so that erasing a word equals never having
written it. White space around a cut becomes one space, or the line end that was there: neighbours never grow together
into a new word, and sentences keep apart. What belongs to no word stays when words are deleted; when words are kept it
stays only between two that were neighbours, so that "isn't" stays "isn't". Nothing erased leaves the text as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise

from regard.data.words import LINE_END
from regard.records import Span

_SPACES = re.compile(r"\s*")


def delete(text: str, spans: Sequence[Span], places: Sequence[int]) -> str:
    """Without the words at these places, which are given in order."""
    if not places:
        return text
    pieces = _between(text, spans, places)
    if not LINE_END.search(text):
        return " ".join(core for piece in pieces if (core := piece.strip()))
    return _joined(pieces)


def keep(text: str, spans: Sequence[Span], places: Sequence[int]) -> str:
    """Only the words at these places, which are given in order; those that were neighbours stay as they were written."""
    if len(places) == len(spans):
        return text
    if not places:
        return ""
    runs = _runs(spans, places)
    pieces = [text[start:end] for start, end in runs]
    if not LINE_END.search(text):
        return " ".join(pieces)
    gaps = [_gap(text[end:start]) for (_, end), (start, _) in pairwise(runs)]
    return "".join(chain.from_iterable(zip(pieces, [*gaps, ""], strict=True)))


def replace(text: str, spans: Sequence[Span], places: Sequence[int], word: str) -> str:
    """With `word` in the place of each of these words, apart from what stands beside it."""
    pieces = _between(text, spans, places)
    whole = pieces[0]
    for piece in pieces[1:]:
        before = " " if whole and not whole[-1].isspace() else ""
        after = " " if piece and not piece[0].isspace() else ""
        whole += before + word + after + piece
    return whole


def without(text: str, spans: Sequence[Span], places: Sequence[int], replacement: str | None = None) -> str:
    """Erased: deleted, or replaced where there is a word to do it with."""
    return delete(text, spans, places) if replacement is None else replace(text, spans, places, replacement)


def only(text: str, spans: Sequence[Span], places: Sequence[int], replacement: str | None = None) -> str:
    """All other words erased: deleted, or replaced where there is a word to do it with."""
    if replacement is None:
        return keep(text, spans, places)
    chosen = set(places)
    return replace(text, spans, [place for place in range(len(spans)) if place not in chosen], replacement)


def manner(replacement: str | None) -> str:
    """In words, for every result to carry."""
    return "deletion" if replacement is None else f"replacement by {replacement!r}"


def _between(text: str, spans: Sequence[Span], places: Sequence[int]) -> list[str]:
    """What stands before, between and after these words."""
    cut = [spans[place] for place in places]
    return [text[start:end] for (_, start), (end, _) in pairwise([(0, 0), *cut, (len(text), 0)])]


def _runs(spans: Sequence[Span], places: Sequence[int]) -> list[Span]:
    """From the first to the last character of neighbouring words."""
    ends = [place for place, then in zip(places, [*places[1:], -2], strict=True) if then != place + 1]
    starts = [place for place, then in zip(places, [-2, *places[:-1]], strict=True) if then != place - 1]
    return [(spans[first][0], spans[last][1]) for first, last in zip(starts, ends, strict=True)]


def _joined(pieces: Sequence[str]) -> str:
    """What is left, with one space or line end at each cut and none at the ends of the text."""
    whole, gaps = "", [""]
    for piece in pieces:
        core = piece.strip()
        if not core:
            gaps.append(piece)
            continue
        start = piece.index(core)
        gaps.append(piece[:start])
        whole += (_widest(gaps) if whole else "") + core
        gaps = [piece[start + len(core) :]]
    return whole


def _gap(between: str) -> str:
    """Between two kept words: the white space with the most line ends of all that stood there."""
    return _widest(_SPACES.findall(between)) if LINE_END.search(between) else " "


def _widest(gaps: Sequence[str]) -> str:
    widest = max(gaps, key=lambda gap: len(LINE_END.findall(gap)))
    return widest if LINE_END.search(widest) else " "
