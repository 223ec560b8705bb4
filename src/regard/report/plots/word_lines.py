"""Pieces of a text set into lines of monospace cells: wrapping and reading order, for the figure.

Reading order is that of words: on a right-to-left line the words run from the right, and several left-to-right words in
a row keep their own order (and the other way round). Inside a word the viewer's own bidirectional algorithm works.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from regard.report.text.characters import cells, direction, is_wide
from regard.report.text.highlights import Piece

_PARTS = re.compile(r"\n|[^\S\n]+|\S+")


@dataclass(frozen=True, slots=True)
class Placed:
    """A piece and the cell, counted from the left edge, where it starts."""

    piece: Piece
    at: int
    width: int
    way: str  # 'ltr' or 'rtl'


def lines(pieces: Iterable[Piece], width: int) -> list[list[Placed]]:
    """The pieces wrapped at `width` cells. Breaks: white space, between wide characters, inside what fits nowhere."""
    parts = list(_parts(pieces, width))
    base = direction("".join(part.text for part in parts)) or "ltr"
    return [_place(_ordered(line, base), width, base) for line in _wrapped(parts, width)]


def _parts(pieces: Iterable[Piece], width: int) -> Iterator[Piece]:
    """Words, white space and newlines, none wider than a line."""
    for piece in pieces:
        for part in _PARTS.findall(piece.text):
            if part == "\n":
                yield Piece("\n")
            elif part.isspace():
                yield replace(piece, text=" " * len(part)) if len(part) < width else Piece(" ")
            else:
                yield from (replace(piece, text=cut) for cut in _cuts(part, width))


def _cuts(word: str, width: int) -> Iterator[str]:
    start, used = 0, 0
    for place, char in enumerate(word):
        size = cells(char)
        if used + size > width and place > start:
            yield word[start:place]
            start, used = place, 0
        used += size
    yield word[start:]


def _wrapped(parts: Sequence[Piece], width: int) -> list[list[Piece]]:
    found: list[list[Piece]] = [[]]
    used = 0
    for cluster in _clusters(parts):
        size = sum(cells(part.text) for part in cluster)
        if cluster[0].text == "\n":
            found.append([])
            used = 0
            continue
        if used and used + size > width:
            found.append([])
            used = 0
            if cluster[0].text.isspace():
                continue
        for part in cluster:  # a cluster wider than a line goes on below, part by part
            if used and used + cells(part.text) > width:
                found.append([])
                used = 0
            found[-1].append(part)
            used += cells(part.text)
    return found


def _clusters(parts: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Parts that belong on one line: a word and the comma after it."""
    cluster: list[Piece] = []
    for part in parts:
        if cluster and _may_break(cluster[-1].text, part.text):
            yield cluster
            cluster = []
        cluster.append(part)
    if cluster:
        yield cluster


def _may_break(before: str, after: str) -> bool:
    return before.isspace() or after.isspace() or (is_wide(before[-1]) and is_wide(after[0]) and after[0].isalnum())


def _ordered(line: Sequence[Piece], base: str) -> list[Piece]:
    """The parts of a line from left to right."""
    ways = [direction(part.text) or _neutral(part.text, base) for part in line]
    found: list[Piece] = []
    place = 0
    while place < len(line):
        end = place
        while ways[place] not in (None, base) and (following := _next_strong(ways, end + 1)) is not None:
            if ways[following] == base:
                break
            end = following
        run = list(line[place : end + 1])
        found += run[::-1] if len(run) > 1 else run
        place = end + 1
    # The runs against the base were reversed above, so that turning a right-to-left line round sets them straight.
    return found[::-1] if base == "rtl" else found


def _neutral(text: str, base: str) -> str | None:
    """Numbers run left to right even between right-to-left words; other signs go with what stands around them."""
    return "ltr" if base == "rtl" and any(char.isdigit() for char in text) else None


def _next_strong(ways: Sequence[str | None], start: int) -> int | None:
    return next((place for place in range(start, len(ways)) if ways[place] is not None), None)


def _place(line: Sequence[Piece], width: int, base: str) -> list[Placed]:
    sizes = [cells(part.text) for part in line]
    at = width - sum(sizes) if base == "rtl" else 0
    found = []
    for part, size in zip(line, sizes, strict=True):
        found.append(Placed(part, at, size, direction(part.text) or base))
        at += size
    return found
