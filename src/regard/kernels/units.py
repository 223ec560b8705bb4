"""The units that attention is over: the words of a text, known pairs of neighbours, and known beginnings of words.

Each unit records the first and last word that it covers. In training, a repeated unit of a text is stored once with its
count: exp(a) + exp(a) = exp(a + log 2), so only the amount of work changes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.pairs import UNKNOWN, PairTable, find_pair, prefetch_pair
from regard.kernels.prefetching import AHEAD, prefetch

compiled = compiling.compiled()
LOW_BITS = (1 << 32) - 1

Ids = NDArray[np.int32]
Int64s = NDArray[np.int64]


def find_units(words: Ids, beginnings: Ids, offsets: Int64s, pairs: PairTable) -> tuple[Ids, Ids, Ids, Int64s]:
    """From word ids: the units, the first and the last word that each covers, and the offsets of the texts.

    `beginnings` has one unit id per word, 0 for none. Unknown words are units only in texts without any other unit.
    """
    most = 3 * len(words) + len(offsets)
    ids, first, last = (np.empty(most, dtype=np.int32) for _ in range(3))
    bounds = np.zeros(len(offsets), dtype=np.int64)
    size = _find(words, beginnings, offsets, pairs.keys, pairs.ids, ids, first, last, bounds)
    return ids[:size], first[:size], last[:size], bounds


@compiled
def _find(
    words: Ids,
    beginnings: Ids,
    offsets: Int64s,
    keys: Int64s,
    pair_ids: Ids,
    ids: Ids,
    first: Ids,
    last: Ids,
    bounds: Int64s,
) -> int:
    size = 0
    for text in range(len(offsets) - 1):
        low, high = offsets[text], offsets[text + 1]
        for position in range(low, high):
            if words[position] != UNKNOWN:
                ids[size], first[size], last[size] = words[position], position - low, position - low
                size += 1
            if beginnings[position] > 0:
                ids[size], first[size], last[size] = beginnings[position], position - low, position - low
                size += 1
        for position in range(low, high + 1 if high > low else high):
            if position + AHEAD < high:
                prefetch_pair(keys, pair_ids, words[position + AHEAD - 1], words[position + AHEAD])
            left = words[position - 1] if position > low else 0
            right = words[position] if position < high else 0
            pair = find_pair(keys, pair_ids, left, right)
            if pair > 0:
                ids[size] = pair
                first[size], last[size] = max(position - 1 - low, 0), min(position, high - 1) - low
                size += 1
        if size == bounds[text] and high > low:
            for position in range(low, high):
                ids[size], first[size], last[size] = UNKNOWN, position - low, position - low
                size += 1
        bounds[text + 1] = size
    return size


def distinct(ids: Ids, offsets: Int64s, units: int) -> tuple[Ids, NDArray[np.uint16], Int64s]:
    """The distinct units of each text in order of first appearance, and their counts (at most 65,535)."""
    kept, counts = np.empty(len(ids), dtype=np.int32), np.empty(len(ids), dtype=np.uint16)
    bounds = np.zeros(len(offsets), dtype=np.int64)
    size = _distinct(ids, offsets, np.zeros(units, dtype=np.int64), kept, counts, bounds)
    return kept[:size].copy(), counts[:size].copy(), bounds


@compiled
def _distinct(ids: Ids, offsets: Int64s, marks: Int64s, kept: Ids, counts: NDArray[np.uint16], bounds: Int64s) -> int:
    """`marks`: for each unit, the last text that has it, counted from 1, and its position in the result."""
    size = 0
    for text in range(len(offsets) - 1):
        for index in range(offsets[text], offsets[text + 1]):
            if index + 2 * AHEAD < len(ids):
                prefetch(marks, ids[index + 2 * AHEAD])
            unit = ids[index]
            mark = marks[unit]
            if mark >> 32 != text + 1:
                marks[unit] = ((text + 1) << 32) | size
                kept[size], counts[size] = unit, 1
                size += 1
            elif counts[mark & LOW_BITS] < 65535:
                counts[mark & LOW_BITS] += 1
        bounds[text + 1] = size
    return size


def beginning_ends(data: NDArray[np.uint8], starts: Int64s, ends: Int64s, letters: int) -> Int64s:
    """Where the first `letters` characters of each word end, or where the word starts if it has no more than those."""
    prefix_ends = np.empty(len(starts), dtype=np.int64)
    _beginnings(data, starts, ends, letters, prefix_ends)
    return prefix_ends


@compiled
def _beginnings(data: NDArray[np.uint8], starts: Int64s, ends: Int64s, letters: int, prefix_ends: Int64s) -> None:
    for word in range(len(starts)):
        prefix_ends[word] = starts[word]
        seen = 0
        if ends[word] - starts[word] > letters:
            for position in range(starts[word], ends[word]):
                if data[position] & 0xC0 != 0x80:  # the first byte of a character in UTF-8
                    if seen == letters:
                        prefix_ends[word] = position
                        break
                    seen += 1


def cut(starts: Int64s, ends: Int64s, counts: Int64s, most: int) -> tuple[Int64s, Int64s, Int64s]:
    """Truncate each text to at most this many words."""
    position = np.arange(len(starts)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = position < most
    return starts[kept], ends[kept], np.minimum(counts, most)
