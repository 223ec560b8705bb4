"""Neighbouring words as one unit: pairs counted in bounded memory, and the frequent ones found again.

A pair is a key of 64 bits, the first word's number above the second's; number 0 stands for the edge of a text, so that
how a text begins and ends counts too, and pairs with an unknown word (number 1) are none. Keys are shared out to PARTS
tables by their hash. A pass over the words fills one table, which is small enough to stay in a core's cache: counting
the pairs of imdb so takes half the time that one large table takes.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

EDGE, UNKNOWN = 0, 1
PARTS = 16
EMPTY = np.int64(-1)
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio

compiled = numba.njit(cache=True, nogil=True)
inner = numba.njit()

Ids = NDArray[np.int32]
Keys = NDArray[np.int64]


class PairCounts:
    """How often each pair was seen. Beyond `most` pairs the rarest are forgotten."""

    def __init__(self, most: int = 1 << 23) -> None:
        self.most = most // PARTS
        self._keys = [np.full(1 << 12, EMPTY, dtype=np.int64) for _ in range(PARTS)]
        self._counts = [np.zeros(1 << 12, dtype=np.int32) for _ in range(PARTS)]
        self._sizes = [0] * PARTS

    def add(self, words: Ids, offsets: Keys, part: int) -> None:
        """Count the pairs of these texts that belong to one of the PARTS; different parts may go side by side."""
        done = 0
        while True:
            keys, counts = self._keys[part], self._counts[part]
            done, self._sizes[part] = _count(words, offsets, part, done, keys, counts, self._sizes[part])
            if done == len(offsets) - 1:
                return
            kept = counts > 0
            if self._sizes[part] >= self.most:
                place = self._sizes[part] - 1 - self.most // 2
                kept = counts > np.partition(counts[kept], place)[place]
            self._hang(part, keys[kept], counts[kept], most_new(int(offsets[done + 1] - offsets[done])))

    def frequent(self, least: int, most: int) -> tuple[Keys, NDArray[np.int32]]:
        """The `most` frequent pairs of those seen `least` times, and their counts; equal counts in the order of keys."""
        keys = np.concatenate([k[c >= least] for k, c in zip(self._keys, self._counts, strict=True)])
        counts = np.concatenate([c[c >= least] for c in self._counts])
        order = np.lexsort((keys, -counts))[:most]
        return keys[order], counts[order]

    def _hang(self, part: int, keys: Keys, counts: NDArray[np.int32], more: int) -> None:
        """Into a new table with room for so many more."""
        slots = 1 << max(12, int(4 * len(keys) - 1).bit_length(), int(2 * (len(keys) + more)).bit_length())
        self._keys[part] = np.full(slots, EMPTY, dtype=np.int64)
        self._counts[part] = np.zeros(slots, dtype=np.int32)
        self._sizes[part] = len(keys)
        _hang(self._keys[part], self._counts[part], keys, counts)


class PairTable:
    """The number of each known pair: the i-th key has number `first` + i."""

    def __init__(self, keys: Keys, first: int) -> None:
        slots = 1 << max(4, int(2 * len(keys)).bit_length())
        self.keys = np.full(slots, EMPTY, dtype=np.int64)
        self.numbers = np.zeros(slots, dtype=np.int32)
        _hang(self.keys, self.numbers, keys, np.arange(first, first + len(keys), dtype=np.int32))


def split(keys: Keys) -> tuple[Ids, Ids]:
    """The first and the second word of each pair."""
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


def join(first: NDArray[np.integer], second: NDArray[np.integer]) -> Keys:
    return (first.astype(np.int64) << 32) | second.astype(np.int64)


@inner
def place_of(key: np.int64, slots: int) -> int:
    return int((np.uint64(key) * SPREAD) >> np.uint64(24)) & (slots - 1)


@inner
def part_of(key: np.int64) -> int:
    return int((np.uint64(key) * SPREAD) >> np.uint64(60))  # 4 bits: PARTS is 16


def most_new(words: int) -> int:
    """As many new pairs as a text of so many words may bring to one part: twice its share. What is beyond is dropped."""
    return 2 * (words + 1) // PARTS + 1


_most_new = inner(most_new)


@inner
def find_pair(keys: Keys, numbers: Ids, first: int, second: int) -> int:
    """The number of a pair, 0 where it has none."""
    if first == UNKNOWN or second == UNKNOWN:
        return 0
    key = (np.int64(first) << 32) | np.int64(second)
    slot = place_of(key, len(keys))
    while keys[slot] != EMPTY:
        if keys[slot] == key:
            return int(numbers[slot])
        slot = (slot + 1) & (len(keys) - 1)
    return 0


@compiled
def _count(
    words: Ids, offsets: Keys, part: int, done: int, keys: Keys, counts: NDArray[np.int32], size: int
) -> tuple[int, int]:
    """Texts from `done` on, until the table might become too full for another one: (texts done, size)."""
    room = 3 * len(keys) // 4
    for text in range(done, len(offsets) - 1):
        low, high = offsets[text], offsets[text + 1]
        if size + _most_new(high - low) > room:
            return text, size
        before = np.int64(EDGE)
        for place in range(low, high + 1):
            word = np.int64(words[place]) if place < high else np.int64(EDGE)
            if low < high and before != UNKNOWN and word != UNKNOWN:
                key = (before << 32) | word
                if part_of(key) == part:
                    slot = place_of(key, len(keys))
                    while keys[slot] != EMPTY and keys[slot] != key:
                        slot = (slot + 1) & (len(keys) - 1)
                    if keys[slot] == EMPTY:
                        if size < len(keys) - 1:
                            keys[slot] = key
                            counts[slot] = 1
                            size += 1
                    else:
                        counts[slot] += 1
            before = word
    return len(offsets) - 1, size


@compiled
def _hang(slots: Keys, values: NDArray[np.int32], keys: Keys, given: NDArray[np.int32]) -> None:
    for place in range(len(keys)):
        slot = place_of(keys[place], len(slots))
        while slots[slot] != EMPTY:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = keys[place]
        values[slot] = given[place]
