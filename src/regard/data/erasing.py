"""A text without some of its words, with only some of them, or with other words in their place.

Words are cut out of the text itself, by their character offsets, as if they had never been written. White space around a cut
becomes one space, or the line end that was there: neighbours never merge into a new word, and sentences stay separate.
Marks before a cut that would be read as an emoticon without the word that followed, as in ":(613)", get spaces between them.
Characters outside words stay when words are deleted; when words are kept, they stay only between words that were neighbours,
so that "isn't" stays "isn't". If nothing is erased, the text is unchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain, pairwise

from regard.data import words
from regard.data.words import LINE_END
from regard.records import Span

_SPACES = re.compile(r"\s*")


def delete(text: str, spans: Sequence[Span], indices: Sequence[int]) -> str:
    """The text without the words at these indices, which must be sorted."""
    if not indices:
        return text
    pieces = _between(text, spans, indices)
    if not LINE_END.search(text):
        return " ".join(core for piece in pieces if (core := piece.strip()))
    return _joined(pieces)


def keep(text: str, spans: Sequence[Span], indices: Sequence[int]) -> str:
    """Only the words at these indices, which must be sorted; neighbours stay as they were written."""
    if len(indices) == len(spans):
        return text
    if not indices:
        return ""
    runs = _runs(spans, indices)
    pieces = [_as_read(text, spans, start, end) for start, end in runs]
    if not LINE_END.search(text):
        return " ".join(pieces)
    gaps = [_gap(text[end:start]) for (_, end), (start, _) in pairwise(runs)]
    return "".join(chain.from_iterable(zip(pieces, [*gaps, ""], strict=True)))


def replace(text: str, spans: Sequence[Span], indices: Sequence[int], word: str) -> str:
    """The text with `word` in place of each of these words, separated from its neighbours."""
    pieces = _between(text, spans, indices)
    whole = pieces[0]
    for piece in pieces[1:]:
        before = " " if whole and not whole[-1].isspace() else ""
        after = " " if piece and not piece[0].isspace() else ""
        whole += before + word + after + piece
    return whole


def without(text: str, spans: Sequence[Span], indices: Sequence[int], replacement: str | None = None) -> str:
    """The text with these words erased: deleted, or replaced if there is a replacement."""
    return delete(text, spans, indices) if replacement is None else replace(text, spans, indices, replacement)


def only(text: str, spans: Sequence[Span], indices: Sequence[int], replacement: str | None = None) -> str:
    """The text with all other words erased: deleted, or replaced if there is a replacement."""
    if replacement is None:
        return keep(text, spans, indices)
    chosen = set(indices)
    return replace(text, spans, [index for index in range(len(spans)) if index not in chosen], replacement)


def describe_erasing(replacement: str | None) -> str:
    """How words are erased, as text for results and labels."""
    return "deletion" if replacement is None else f"replacement by {replacement!r}"


def _between(text: str, spans: Sequence[Span], indices: Sequence[int]) -> list[str]:
    """The text before, between and after these words."""
    cut = [spans[index] for index in indices]
    edges = [*pairwise([(0, 0), *cut, (len(text), 0)])]
    whole = [_as_read(text, spans, start, end) for (_, start), (end, _) in edges[:-1]]
    return [*whole, text[edges[-1][0][1] :]]  # nothing is cut after the last piece


def _as_read(text: str, spans: Sequence[Span], start: int, end: int) -> str:
    """The text [start, end) before a cut; its last words are separated if they would be read as others without the cut word."""
    piece = text[start:end]
    if not piece or piece[-1].isspace():
        return piece
    tail = end - len(piece.split()[-1])  # no word reaches over white space
    first, last = bisect_left(spans, (tail, 0)), bisect_left(spans, (end, 0))
    at_end = spans[first:last]
    if len(at_end) < 2 or [(a - tail, b - tail) for a, b in at_end] == words.spans(text[tail:end]):
        return piece
    return text[start : at_end[0][0]] + " ".join(text[a:b] for a, b in at_end)


def _runs(spans: Sequence[Span], indices: Sequence[int]) -> list[Span]:
    """Spans from the first to the last character of runs of neighbouring words."""
    ends = [index for index, after in zip(indices, [*indices[1:], -2], strict=True) if after != index + 1]
    starts = [index for index, before in zip(indices, [-2, *indices[:-1]], strict=True) if before != index - 1]
    return [(spans[first][0], spans[last][1]) for first, last in zip(starts, ends, strict=True)]


def _joined(pieces: Sequence[str]) -> str:
    """The remaining pieces, with one space or line end at each cut and none at the ends of the text."""
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
    """The white space with the most line ends among all that was between two kept words."""
    return _widest(_SPACES.findall(between)) if LINE_END.search(between) else " "


def _widest(gaps: Sequence[str]) -> str:
    widest = max(gaps, key=lambda gap: len(LINE_END.findall(gap)))
    return widest if LINE_END.search(widest) else " "
