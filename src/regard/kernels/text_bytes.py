"""Many texts as UTF-8 bytes side by side: which need a closer look before their words are found, and which pieces of them."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from regard.kernels.compiling import compiled

Bytes = NDArray[np.uint8]
Int64s = NDArray[np.int64]

inlined = numba.njit(forceinline=True)

NOT_ASCII, WORDLESS, ODD = 1, 2, 4  # bits
BLANK, SLASH, LESS, GREATER, DELETE = b" /<>\x7f"
B, R = b"br"


@compiled()
def inspect(data: Bytes, offsets: Int64s, longest: int) -> Bytes:
    """(texts,) NOT_ASCII: not all is ASCII; WORDLESS: does not begin with a word for certain; ODD: has a NUL, or one of the
    separators that are white space in Unicode only, or more than `longest` bytes without a blank.
    """
    flags = np.zeros(len(offsets) - 1, dtype=np.uint8)
    for text in range(len(flags)):
        start, stop = offsets[text], offsets[text + 1]
        union, odd = np.uint8(0), 0
        for position in range(start, stop):  # without branches, so that many bytes are read at a time
            byte = data[np.uint64(position)]
            union |= byte
            odd += (byte == 0) | ((byte >= 0x1C) & (byte < BLANK))
        if odd or (stop - start > longest and _longest_run(data, start, stop) > longest):
            flags[text] |= ODD
        if union >= 128:
            flags[text] |= NOT_ASCII
        while start < stop and data[start] <= BLANK:
            start += 1
        # every other visible character of ASCII is a word or begins one; < may begin a line break
        if start == stop or data[start] >= DELETE or data[start] == LESS:
            flags[text] |= WORDLESS
    return flags


@inlined
def _longest_run(data: Bytes, start: int, stop: int) -> int:
    """The most bytes without a blank."""
    longest, begin = 0, start
    for position in range(start, stop):
        if data[np.uint64(position)] == BLANK:
            longest = max(longest, position - begin)
            begin = position + 1
    return max(longest, stop - begin)


class Pieces(NamedTuple):
    starts: Int64s  # (pieces,) in the bytes
    ends: Int64s  # (pieces,)
    counts: Int64s  # (texts,) number of pieces per text


def other_pieces(data: Bytes, offsets: Int64s, wanted: NDArray[np.bool_]) -> Pieces:
    """The pieces between blanks that are not ASCII, in the wanted texts. Blanks in line breaks (<br />) do not count."""
    most = int(np.diff(offsets)[wanted].sum()) // 2 + len(wanted)  # pages are allocated only when written
    starts, ends = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    counts = np.zeros(len(wanted), dtype=np.int64)
    size = find_pieces(data, offsets, wanted, starts, ends, counts)
    return Pieces(starts[:size], ends[:size], counts)


@compiled()
def find_pieces(
    data: Bytes, offsets: Int64s, wanted: NDArray[np.bool_], starts: Int64s, ends: Int64s, counts: Int64s
) -> int:
    """`other_pieces` into arrays of the caller. Returns the number of pieces."""
    size = 0
    for text in range(len(wanted)):
        if not wanted[text]:
            continue
        begin, stop, first = offsets[text], offsets[text + 1], size
        whole, other = begin, False  # no blank before `whole` separates
        for position in range(begin, stop):
            byte = data[np.uint64(position)]
            if byte == BLANK and position >= whole:
                if other:
                    starts[size], ends[size] = begin, position
                    size += 1
                begin, other = position + 1, False
            elif byte == LESS:
                whole = max(whole, _line_break(data, position, stop))
            else:
                other |= byte >= 128
        if other:
            starts[size], ends[size] = begin, stop
            size += 1
        counts[text] = size - first
    return size


@inlined
def _line_break(data: Bytes, start: int, stop: int) -> int:
    """The end of what may be a line break, or 0. White space of other scripts is not told from their letters."""
    if stop - start < 4 or data[start + 1] | 32 != B or data[start + 2] | 32 != R:
        return 0
    end = start + 3
    while end < stop and (data[end] <= BLANK or data[end] >= 128):
        end += 1
    if end < stop and data[end] == SLASH:
        end += 1
    return end + 1 if end < stop and data[end] == GREATER else 0
