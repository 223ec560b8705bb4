"""Pairs of neighbouring words as units: counting them in bounded memory, and looking up the frequent ones.

A pair is a 64-bit key with the first word's id above the second's. Id 0 is the edge of a text, so that how a text begins
and ends is counted too; pairs with an unknown word (id 1) are skipped. Keys are distributed over PARTS tables by their
hash, so that each table is small enough to stay in a core's cache: first the keys of many texts are sorted by part, then each
part is counted alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.prefetching import prefetch

EDGE, UNKNOWN = 0, 1
PARTS = 16
EMPTY = np.int64(-1)
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio

compiled = compiling.compiled()
inner = compiling.inner()

Ids = NDArray[np.int32]
Keys = NDArray[np.int64]


class PairCounts:
    """How often each pair was seen. Beyond `most` pairs the rarest are dropped."""

    def __init__(self, most: int = 1 << 23) -> None:
        self.most = most // PARTS
        self._keys = [np.full(1 << 12, EMPTY, dtype=np.int64) for _ in range(PARTS)]
        self._counts = [np.zeros(1 << 12, dtype=np.int32) for _ in range(PARTS)]
        self._sizes = [0] * PARTS

    def add(self, words: Ids, offsets: Keys, run: Callable[..., Iterable[Any]] = map) -> None:
        """Count the pairs of these texts; `run` is `map`, or that of an executor, because parts may be counted in parallel."""
        texts = len(offsets) - 1
        pairs, ends = np.empty(len(words) + texts, dtype=np.int64), np.empty((PARTS, texts + 1), dtype=np.int64)
        _distribute(words, offsets, pairs, ends)
        list(run(partial(self._add, offsets, pairs, ends), range(PARTS)))

    def _add(self, offsets: Keys, pairs: Keys, ends: Keys, part: int) -> None:
        done = 0
        while True:
            keys, counts = self._keys[part], self._counts[part]
            done, self._sizes[part] = _count(pairs, ends[part], offsets, done, keys, counts, self._sizes[part])
            if done == len(offsets) - 1:
                return
            keep = counts > 0
            if self._sizes[part] >= self.most:
                rank = self._sizes[part] - 1 - self.most // 2
                keep = counts > np.partition(counts[keep], rank)[rank]
            self._rebuild(part, keys[keep], counts[keep], most_new(int(offsets[done + 1] - offsets[done])))

    def frequent(self, least: int, most: int) -> tuple[Keys, NDArray[np.int32]]:
        """Up to `most` pairs seen at least `least` times, and their counts; most frequent first, ties ordered by key."""
        keys = np.concatenate([k[c >= least] for k, c in zip(self._keys, self._counts, strict=True)])
        counts = np.concatenate([c[c >= least] for c in self._counts])
        order = np.lexsort((keys, -counts))[:most]
        return keys[order], counts[order]

    def _rebuild(self, part: int, keys: Keys, counts: NDArray[np.int32], more: int) -> None:
        """Rebuild one table from these entries, with space for `more` new ones."""
        slots = 1 << max(12, int(4 * len(keys) - 1).bit_length(), int(2 * (len(keys) + more)).bit_length())
        self._keys[part] = np.full(slots, EMPTY, dtype=np.int64)
        self._counts[part] = np.zeros(slots, dtype=np.int32)
        self._sizes[part] = len(keys)
        _insert(self._keys[part], self._counts[part], keys, counts)


class PairTable:
    """The id of each known pair: the i-th key has id `first` + i."""

    def __init__(self, keys: Keys, first: int) -> None:
        slots = 1 << max(4, int(2 * len(keys)).bit_length())
        self.keys = np.full(slots, EMPTY, dtype=np.int64)
        self.ids = np.zeros(slots, dtype=np.int32)
        _insert(self.keys, self.ids, keys, np.arange(first, first + len(keys), dtype=np.int32))


def split(keys: Keys) -> tuple[Ids, Ids]:
    """The first and the second word of each pair."""
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


def join(first: NDArray[np.integer], second: NDArray[np.integer]) -> Keys:
    return (first.astype(np.int64) << 32) | second.astype(np.int64)


@inner
def slot_of(key: np.int64, slots: int) -> int:
    return int((np.uint64(key) * SPREAD) >> np.uint64(24)) & (slots - 1)


@inner
def part_of(key: np.int64) -> int:
    return int((np.uint64(key) * SPREAD) >> np.uint64(60))  # 4 bits: PARTS is 16


def most_new(words: int) -> int:
    """How many new pairs a text of this many words may add to one part: twice its share. Any beyond that are dropped."""
    return 2 * (words + 1) // PARTS + 1


_most_new = inner(most_new)


@inner
def prefetch_pair(keys: Keys, ids: Ids, first: int, second: int) -> None:
    """Ask for the slot of a pair that will be looked up soon."""
    slot = slot_of((np.int64(first) << 32) | np.int64(second), len(keys))
    prefetch(keys, slot)
    prefetch(ids, slot)


@inner
def find_pair(keys: Keys, ids: Ids, first: int, second: int) -> int:
    """The id of a pair, or 0 if it has none."""
    if first == UNKNOWN or second == UNKNOWN:
        return 0
    key = (np.int64(first) << 32) | np.int64(second)
    slot = slot_of(key, len(keys))
    while keys[slot] != EMPTY:
        if keys[slot] == key:
            return int(ids[slot])
        slot = (slot + 1) & (len(keys) - 1)
    return 0


@compiled
def _distribute(words: Ids, offsets: Keys, pairs: Keys, ends: Keys) -> None:
    """Sort the keys of the pairs by part, in their order; those of a text are [ends[part, text], ends[part, text + 1])."""
    used = np.zeros(PARTS, dtype=np.int64)
    for is_writing in range(2):
        for text in range(len(offsets) - 1):
            low, high = offsets[text], offsets[text + 1]
            before = np.int64(EDGE)
            for index in range(low, high + 1 if high > low else high):
                word = np.int64(words[index]) if index < high else np.int64(EDGE)
                if before != UNKNOWN and word != UNKNOWN:
                    key = (before << 32) | word
                    part = part_of(key)
                    if is_writing:
                        pairs[used[part]] = key
                    used[part] += 1
                before = word
            if is_writing:
                for part in range(PARTS):
                    ends[part, text + 1] = used[part]
        if not is_writing:
            first = 0
            for part in range(PARTS):
                ends[part, 0] = first
                first += used[part]
                used[part] = ends[part, 0]


@compiled
def _count(
    pairs: Keys, ends: Keys, offsets: Keys, done: int, keys: Keys, counts: NDArray[np.int32], size: int
) -> tuple[int, int]:
    """Count texts from `done` on, until the next one might overfill the table. Returns (texts done, size)."""
    limit = 3 * len(keys) // 4
    for text in range(done, len(offsets) - 1):
        if size + _most_new(offsets[text + 1] - offsets[text]) > limit:
            return text, size
        for index in range(ends[text], ends[text + 1]):
            key = pairs[index]
            slot = slot_of(key, len(keys))
            while keys[slot] != EMPTY and keys[slot] != key:
                slot = (slot + 1) & (len(keys) - 1)
            if keys[slot] == EMPTY:
                if size < len(keys) - 1:
                    keys[slot] = key
                    counts[slot] = 1
                    size += 1
            else:
                counts[slot] += 1
    return len(offsets) - 1, size


@compiled
def _insert(slots: Keys, values: NDArray[np.int32], keys: Keys, new_values: NDArray[np.int32]) -> None:
    for index in range(len(keys)):
        slot = slot_of(keys[index], len(slots))
        while slots[slot] != EMPTY:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = keys[index]
        values[slot] = new_values[index]
