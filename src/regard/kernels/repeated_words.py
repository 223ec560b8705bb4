"""Which words occur more than once in a text, of many texts at once: groups for `leaving_out`, after each word alone."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.dictionary import LONG, SPREAD, _key
from regard.kernels.leaving_out import Groups

compiled = compiling.compiled()
inner = numba.njit()

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


def first_occurrences(data: Bytes, starts: Ints, ends: Ints, counts: Ints, lowered: bool) -> Ints:
    """(words,) where each word occurs first in its text; upper and lower case of ASCII are the same.

    `lowered`: whether the bytes are in lower case already.
    """
    if not lowered:
        data = np.where((data >= 65) & (data <= 90), data | 32, data).astype(np.uint8)
    first = np.empty(len(starts), dtype=np.int64)
    _first(data, starts, ends, counts, first)
    return first


def singles_and_repeats(first: Ints, counts: Ints) -> Groups:
    """Per text: every word alone, then the words that it has several times, by their first occurrence."""
    bounds = np.zeros(len(counts) + 1, dtype=np.int64)
    starts = np.empty(len(first) + len(first) // 2 + 1, dtype=np.int64)
    words = np.empty(2 * len(first), dtype=np.int64)
    groups = _group(first, counts, bounds, starts, words)
    return Groups(bounds, starts[: groups + 1], words[: starts[groups]])


@inner
def _is_equal(data: Bytes, start: int, end: int, other: int, other_end: int) -> bool:
    if end - start != other_end - other:
        return False
    for step in range(end - start):  # noqa: SIM110 (numba compiles no generators)
        if data[start + step] != data[other + step]:
            return False
    return True


@compiled
def _first(data: Bytes, starts: Ints, ends: Ints, counts: Ints, first: Ints) -> None:
    longest = 0
    for text in range(len(counts)):
        longest = max(longest, counts[text])
    size = 16
    while size < 2 * longest:
        size *= 2
    slots, keys = np.empty(size, dtype=np.int64), np.empty(longest, dtype=np.uint64)
    low = 0
    for text in range(len(counts)):
        size = 16
        while size < 2 * counts[text]:
            size *= 2
        slots[:size] = -1
        for word in range(counts[text]):
            start, end = starts[low + word], ends[low + word]
            key = _key(data, start, end)
            keys[word] = key
            slot = np.int64(((key ^ key >> np.uint64(32)) * SPREAD) >> np.uint64(32)) & (size - 1)
            other = slots[slot]
            while other >= 0:
                if keys[other] == key and (
                    key < LONG or _is_equal(data, start, end, starts[low + other], ends[low + other])
                ):
                    break
                slot = (slot + 1) & (size - 1)
                other = slots[slot]
            if other < 0:
                slots[slot] = word
                other = np.int64(word)
            first[low + word] = other
        low += counts[text]


@compiled
def _group(first: Ints, counts: Ints, bounds: Ints, starts: Ints, words: Ints) -> int:
    """Returns the number of groups."""
    longest = 0
    for text in range(len(counts)):
        longest = max(longest, counts[text])
    times, place = np.empty(longest, dtype=np.int64), np.empty(longest, dtype=np.int64)
    groups, size, low = 0, 0, 0
    starts[0] = 0
    for text in range(len(counts)):
        count = counts[text]
        times[:count] = 0
        for word in range(count):
            times[first[low + word]] += 1
            words[size] = word
            size += 1
            groups += 1
            starts[groups] = size
        for word in range(count):
            if times[word] > 1:
                place[word] = size
                size += times[word]
                groups += 1
                starts[groups] = size
        for word in range(count):
            origin = first[low + word]
            if times[origin] > 1:
                words[place[origin]] = word
                place[origin] += 1
        bounds[text + 1] = groups
        low += count
    return groups
