"""Many texts as one array of bytes, in which `kernels/scanner.py` finds the words that `forms` would find.

ASCII stays as it is. No word reaches over a blank, so of any other text only the pieces between blanks that hold
another character go through `forms`; their words follow PRESPLIT bytes in UTF-8.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.words import forms, spans, without_breaks
from regard.kernels.scanner import PRESPLIT
from regard.records import Span

OTHER = re.compile(r"[^\x00-\x7F][^ ]*+")  # from a piece's first character that is not ASCII to its end
MARKER = bytes([PRESPLIT])
SEPARATORS = bytes.maketrans(b"\x1c\x1d\x1e\x1f", b"    ")
SHORT = 64  # characters of a piece that is likely to recur
TAG = re.compile(rb"<br\s*/?>", re.IGNORECASE)  # what the scanner leaves out


class Packed(NamedTuple):
    data: NDArray[np.uint8]  # (bytes,)
    offsets: NDArray[np.int64]  # (texts + 1,) where each text starts, with the end of the last

    def part(self, start: int, stop: int) -> Packed:
        """Texts [start, stop)."""
        offsets = self.offsets[start : stop + 1]
        return Packed(self.data[offsets[0] : offsets[-1]], offsets - offsets[0])

    def only(self, rows: NDArray[np.int64]) -> Packed:
        """The texts with these numbers."""
        parts = [self.data[self.offsets[row] : self.offsets[row + 1]] for row in rows.tolist()]
        offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        return Packed(np.concatenate([self.data[:0], *parts]), offsets)


def pack(texts: Sequence[str], lowercase: bool = True) -> Packed:
    """The bytes of many texts.

    `lowercase` is for the words of other scripts; ASCII is put into lower case by the scanner.
    """
    parts = [text.encode("ascii") if text.isascii() else pack_mixed(text, lowercase) for text in texts]
    offsets = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)), out=offsets[1:])
    # bytearray: the scanner writes
    return Packed(np.frombuffer(bytearray().join(parts), dtype=np.uint8), offsets)


def pack_mixed(text: str, lowercase: bool) -> bytes:
    """The bytes of a text that is not only ASCII."""
    joined = join_parts(mixed_parts(text, lowercase))
    return _ready(text, lowercase) if joined is None else joined


def join_parts(parts: Iterable[Part]) -> bytes | None:
    """None if a tag arises that the text does not have: what was left out stood in it, as in "<br<br>>" or "<br \u200b >"."""
    # Beside other scripts these are white space, but not in the pattern that the scanner follows.
    packed = b"".join([part.content for part in parts]).translate(SEPARATORS)
    return None if b"<" in packed and TAG.search(packed) else packed


class Part(NamedTuple):
    """A stretch of a text that is packed alone."""

    start: int  # in the text
    is_ready: bool  # whether its words were found already; otherwise its bytes are its characters
    content: bytes


def mixed_parts(text: str, lowercase: bool) -> Iterator[Part]:
    """The parts of a text that is not only ASCII. Line breaks are blanks of the same length, so that places stay."""
    text = without_breaks(text)
    done = 0
    for match in OTHER.finditer(text):
        start, end = max(done, text.rfind(" ", done, match.start()) + 1), match.end()
        yield Part(done, False, text[done:start].encode("ascii"))
        yield Part(start, True, pack_piece(text[start:end], lowercase))
        done = end
    yield Part(done, False, text[done:].encode("ascii"))


def spans_of_words(text: str, lowercase: bool, words: Sequence[tuple[int, int, int]]) -> list[Span]:
    """Where words of a text stand in its characters, in a fraction of the time of finding all words again.

    Each word is given by its number, and by where it starts and ends in the packed bytes of the text.
    """
    if text.isascii():
        return [(start, end) for _, start, end in words]
    parts = list(mixed_parts(text, lowercase))
    bounds = list(accumulate((len(part.content) for part in parts), initial=0))
    if join_parts(parts) is None:  # packed as a whole
        every = spans(text)
        return [every[number] for number, _, _ in words]
    found = []
    for _, start, end in words:
        index = bisect_right(bounds, start) - 1
        part, inside = parts[index], start - bounds[index]
        if not part.is_ready:
            found.append((part.start + inside, part.start + end - bounds[index]))
            continue
        stop = parts[index + 1].start  # a stretch of ASCII, perhaps empty, always follows
        low, high = spans(text[part.start : stop])[part.content.count(MARKER, 0, inside) - 1]
        found.append((part.start + low, part.start + high))
    return found


def pack_piece(piece: str, lowercase: bool) -> bytes:
    """The bytes of what stands between two blanks."""
    return (_known if len(piece) <= SHORT else _ready)(piece, lowercase)


def _ready(piece: str, lowercase: bool) -> bytes:
    return b"".join([MARKER + word.encode("utf-8", "surrogatepass") for word in forms(piece, lowercase)])


_known = lru_cache(maxsize=1 << 16)(_ready)
