"""Many texts as one array of bytes, in which `kernels/scanner.py` finds the words that `forms` would find.

ASCII stays as it is. No word reaches over a blank, so of any other text only the pieces between blanks that hold
another character go through `forms`; their words follow PRESPLIT bytes in UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.words import LINE_BREAK, forms
from regard.kernels.scanner import PRESPLIT

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
    whole = text
    if "<" in text:
        text = LINE_BREAK.sub(" ", text)
    parts: list[bytes] = []
    done = 0
    for match in OTHER.finditer(text):
        start, end = max(done, text.rfind(" ", done, match.start()) + 1), match.end()
        parts += (text[done:start].encode("ascii"), pack_piece(text[start:end], lowercase))
        done = end
    parts.append(text[done:].encode("ascii"))
    # Beside other scripts these are white space, but not in the pattern that the scanner follows.
    packed = b"".join(parts).translate(SEPARATORS)
    # A tag that the text does not have: what was left out stood in it, as in "<br<br>>" or "<br \u200b >".
    return _ready(whole, lowercase) if b"<" in packed and TAG.search(packed) else packed


def pack_piece(piece: str, lowercase: bool) -> bytes:
    """The bytes of what stands between two blanks."""
    return (_known if len(piece) <= SHORT else _ready)(piece, lowercase)


def _ready(piece: str, lowercase: bool) -> bytes:
    return b"".join([MARKER + word.encode("utf-8", "surrogatepass") for word in forms(piece, lowercase)])


_known = lru_cache(maxsize=1 << 16)(_ready)
