"""What attention looks at in a text: its words, known pairs of neighbours, and known beginnings of words.

A unit that is no word knows the words that it covers. For training, a unit that comes again in a text is one unit with
a count: exp(a) + exp(a) is exp(a + log 2), so that nothing but the work changes.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from regard.kernels.pairs import UNKNOWN, PairTable, find_pair

compiled = numba.njit(cache=True, nogil=True)

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


def find_units(words: Ids, beginnings: Ids, offsets: Places, pairs: PairTable) -> tuple[Ids, Ids, Ids, Places]:
    """For texts of word numbers: units, the first and the last word that each covers, and where each text's begin.

    `beginnings` has a number for each word, 0 for none. Unknown words are no units, unless a text has no other.
    """
    most = 3 * len(words) + len(offsets)
    ids, first, last = (np.empty(most, dtype=np.int32) for _ in range(3))
    bounds = np.zeros(len(offsets), dtype=np.int64)
    size = _find(words, beginnings, offsets, pairs.keys, pairs.numbers, ids, first, last, bounds)
    return ids[:size], first[:size], last[:size], bounds


@compiled
def _find(
    words: Ids,
    beginnings: Ids,
    offsets: Places,
    keys: Places,
    numbers: Ids,
    ids: Ids,
    first: Ids,
    last: Ids,
    bounds: Places,
) -> int:
    size = 0
    for text in range(len(offsets) - 1):
        low, high = offsets[text], offsets[text + 1]
        for place in range(low, high):
            if words[place] != UNKNOWN:
                ids[size], first[size], last[size] = words[place], place - low, place - low
                size += 1
            if beginnings[place] > 0:
                ids[size], first[size], last[size] = beginnings[place], place - low, place - low
                size += 1
        for place in range(low, high + 1 if high > low else high):
            left = words[place - 1] if place > low else 0
            right = words[place] if place < high else 0
            number = find_pair(keys, numbers, left, right)
            if number > 0:
                ids[size] = number
                first[size], last[size] = max(place - 1 - low, 0), min(place, high - 1) - low
                size += 1
        if size == bounds[text] and high > low:
            for place in range(low, high):
                ids[size], first[size], last[size] = UNKNOWN, place - low, place - low
                size += 1
        bounds[text + 1] = size
    return size


def distinct(ids: Ids, offsets: Places, numbers: int) -> tuple[Ids, NDArray[np.uint16], Places]:
    """Each text's different units in the order of their first coming, with how often each is there (65,535 at most)."""
    kept, counts = np.empty(len(ids), dtype=np.int32), np.empty(len(ids), dtype=np.uint16)
    bounds = np.zeros(len(offsets), dtype=np.int64)
    seen, place = np.zeros(numbers, dtype=np.int64), np.empty(numbers, dtype=np.int64)
    size = _distinct(ids, offsets, seen, place, kept, counts, bounds)
    return kept[:size].copy(), counts[:size].copy(), bounds


@compiled
def _distinct(
    ids: Ids, offsets: Places, seen: Places, place: Places, kept: Ids, counts: NDArray[np.uint16], bounds: Places
) -> int:
    size = 0
    for text in range(len(offsets) - 1):
        for at in range(offsets[text], offsets[text + 1]):
            unit = ids[at]
            if seen[unit] != text + 1:
                seen[unit], place[unit] = text + 1, size
                kept[size], counts[size] = unit, 1
                size += 1
            elif counts[place[unit]] < 65535:
                counts[place[unit]] += 1
        bounds[text + 1] = size
    return size


def beginning_ends(data: NDArray[np.uint8], starts: Places, ends: Places, letters: int) -> Places:
    """Where the first `letters` characters of each word end; where it starts, if it has no more than those."""
    found = np.empty(len(starts), dtype=np.int64)
    _beginnings(data, starts, ends, letters, found)
    return found


@compiled
def _beginnings(data: NDArray[np.uint8], starts: Places, ends: Places, letters: int, found: Places) -> None:
    for word in range(len(starts)):
        found[word] = starts[word]
        seen = 0
        if ends[word] - starts[word] > letters:
            for place in range(starts[word], ends[word]):
                if data[place] & 0xC0 != 0x80:  # a byte that begins a character in UTF-8
                    if seen == letters:
                        found[word] = place
                        break
                    seen += 1


def cut(starts: Places, ends: Places, counts: Places, most: int) -> tuple[Places, Places, Places]:
    """Texts of at most so many words."""
    place = np.arange(len(starts)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = place < most
    return starts[kept], ends[kept], np.minimum(counts, most)
