"""Ids for words: an open-addressing hash table from byte strings to 0, 1, 2, …, with the count of each.

The key of a word of at most 7 bytes is the bytes themselves with the length above them, so equal keys are equal words. The
key of a longer word is FNV-1a with the highest bit set, and words with equal keys are compared byte by byte, so different
words are never merged. At most half of the slots are occupied; probing is linear.

When a stream brings more words than fit, the rarest are dropped, as in fastText (Joulin et al., 2017). As there, the count
of a dropped word starts again from 0 when the word comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling

compiled = compiling.compiled()
inner = compiling.inner()

Bytes = NDArray[np.uint8]
Ids = NDArray[np.int32]
Int64s = NDArray[np.int64]
Keys = NDArray[np.uint64]

ABSENT = -1
MAX_SHORT = 7
LONG = np.uint64(1 << 63)
OFFSET_BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a, 64 bits
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
ALL, HALF = np.uint64(2**64 - 1), np.uint64(32)


class Dictionary:
    """Words [start, end) of `data` get ids in the order in which they first appear."""

    def __init__(self, slots: int = 1 << 14, capacity: int = 1 << 16) -> None:
        """Initial `slots` (a power of 2) and `capacity` in bytes; both grow."""
        self._size = 0
        self._slots: Ids = np.full(slots, ABSENT, dtype=np.int32)  # the id of the word in each slot
        self._keys: Keys = np.empty(slots // 2, dtype=np.uint64)
        self._counts: Int64s = np.zeros(slots // 2, dtype=np.int64)
        self._bounds: Int64s = np.zeros(slots // 2 + 1, dtype=np.int64)  # word boundaries in the arena
        self._arena: Bytes = np.empty(capacity, dtype=np.uint8)

    @classmethod
    def of(cls, words: Sequence[str]) -> Dictionary:
        """The i-th word has id i and count 0."""
        parts = [word.encode("utf-8", "surrogatepass") for word in words]
        bounds = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)), out=bounds[1:])
        dictionary = cls()
        ids = dictionary.add(np.frombuffer(bytearray().join(parts), dtype=np.uint8), bounds[:-1], bounds[1:])
        if len(dictionary) < len(words):
            repeated = words[int(np.flatnonzero(ids != np.arange(len(ids)))[0])]
            raise ValueError(f"words: expected distinct words, got {repeated!r} twice")
        dictionary._counts[:] = 0
        return dictionary

    def __len__(self) -> int:
        return self._size

    @property
    def counts(self) -> Int64s:
        return self._counts[: self._size].copy()

    def words(self) -> list[str]:
        bounds = self._bounds[: self._size + 1]
        raw = self._arena[: bounds[-1]].tobytes()
        return [raw[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(bounds.tolist())]

    def add(self, data: Bytes, starts: Int64s, ends: Int64s) -> Ids:
        """The ids of these words; new words get new ids, and every word is counted."""
        ids = np.empty(len(starts), dtype=np.int32)
        done = 0
        while True:
            done, self._size = self._find_ids(data, starts, ends, ids, done, adding=True)
            if done == len(starts):
                return ids
            if self._size == len(self._counts):
                self._grow()
            else:
                capacity = max(2 * len(self._arena), int(self._bounds[self._size] + ends[done] - starts[done]))
                self._arena = _extended(self._arena, capacity)

    def look_up(self, data: Bytes, starts: Int64s, ends: Int64s, unknown: int = ABSENT) -> Ids:
        """The ids of these words, `unknown` for words not in the dictionary; nothing is added or counted."""
        ids = np.empty(len(starts), dtype=np.int32)
        self._find_ids(data, starts, ends, ids, unknown=unknown)
        return ids

    def prune(self, most: int) -> Ids:
        """If there are more than `most` words, drop the rarest until at most half of `most` are left.

        Words with equal counts are kept or dropped together, and the rest keep their order. Returns the new id of each
        old one, −1 if it was dropped.
        """
        if self._size <= most:
            return np.arange(self._size, dtype=np.int32)
        counts = self._counts[: self._size]
        rank = self._size - 1 - most // 2
        kept = counts > np.partition(counts, rank)[rank]
        new_ids = np.where(kept, np.cumsum(kept) - 1, ABSENT).astype(np.int32)
        self._size = _compact(new_ids, self._keys, self._counts, self._bounds, self._arena)
        self._rebuild(len(self._slots))
        return new_ids

    def _find_ids(
        self, data: Bytes, starts: Int64s, ends: Int64s, ids: Ids, done: int = 0, adding: bool = False, unknown: int = 0
    ) -> tuple[int, int]:
        table = (self._slots, self._keys, self._counts, self._bounds, self._arena, self._size)
        return _find_ids(data, starts, ends, done, adding, unknown, ids, *table)

    def _grow(self) -> None:
        slots = 2 * len(self._slots)
        self._keys = _extended(self._keys, slots // 2)
        self._counts = _extended(self._counts, slots // 2)
        self._bounds = _extended(self._bounds, slots // 2 + 1)
        self._rebuild(slots)

    def _rebuild(self, slots: int) -> None:
        self._slots = np.full(slots, ABSENT, dtype=np.int32)
        _rebuild(self._slots, self._keys, self._size)


def _extended(array: NDArray[Any], length: int) -> NDArray[Any]:
    extended = np.zeros(length, dtype=array.dtype)
    extended[: len(array)] = array
    return extended


@inner
def _key(data: Bytes, start: int, end: int) -> np.uint64:
    length = end - start
    if length > MAX_SHORT:
        key = OFFSET_BASIS
        for position in range(start, end):
            key = (key ^ np.uint64(data[position])) * PRIME
        return key | LONG
    key = np.uint64(0)
    if start + 8 > len(data):
        for step in range(length):
            key |= np.uint64(data[start + step]) << np.uint64(8 * step)
    else:  # a fixed 8 steps are faster than the exact number; so are unsigned indices, which need no check for negative ones
        for step in range(8):
            key |= np.uint64(data[np.uint64(start) + np.uint64(step)]) << np.uint64(8 * step)
        key &= ~(ALL << np.uint64(8 * length))
    return key | np.uint64(length) << np.uint64(56)


@inner
def _first_slot(key: np.uint64, slots: Ids) -> np.int64:
    mixed = (key ^ key >> HALF) * SPREAD
    return np.int64(mixed >> HALF) & len(slots) - 1


@inner
def _is_same_word(data: Bytes, start: int, end: int, bounds: Int64s, arena: Bytes, word_id: int) -> bool:
    first = bounds[word_id]
    length = end - start
    same = 0
    if bounds[word_id + 1] - first == length:
        while same < length and arena[first + same] == data[start + same]:
            same += 1
    return same == length


@compiled
def _find_ids(
    data: Bytes, starts: Int64s, ends: Int64s, first: int, adding: bool, unknown: int, ids: Ids,
    slots: Ids, keys: Keys, counts: Int64s, bounds: Int64s, arena: Bytes, size: int,
) -> tuple[int, int]:  # fmt: skip
    """Process words from `first` on, until one does not fit. Returns (index of the next word, size of the dictionary)."""
    for index in range(first, len(starts)):
        start, end = starts[index], ends[index]
        key = _key(data, start, end)
        slot = _first_slot(key, slots)
        word_id = slots[slot]
        while word_id != ABSENT:
            if keys[word_id] == key and (key < LONG or _is_same_word(data, start, end, bounds, arena, word_id)):
                break
            slot = slot + 1 & len(slots) - 1
            word_id = slots[slot]
        if adding:
            if word_id == ABSENT:
                used = bounds[size]
                if size == len(counts) or used + end - start > len(arena):
                    return index, size
                word_id = np.int32(size)
                slots[slot], keys[size], counts[size] = word_id, key, 0
                for step in range(end - start):  # a slice assignment would take seconds to compile
                    arena[used + step] = data[start + step]
                size += 1
                bounds[size] = used + end - start
            counts[word_id] += 1
        ids[index] = unknown if word_id == ABSENT else word_id
    return len(starts), size


@compiled
def _rebuild(slots: Ids, keys: Keys, size: int) -> None:
    """Insert all words into an empty table; they are distinct, so no comparison is needed."""
    for word_id in range(size):
        slot = _first_slot(keys[word_id], slots)
        while slots[slot] != ABSENT:
            slot = slot + 1 & len(slots) - 1
        slots[slot] = word_id


@compiled
def _compact(new_ids: Ids, keys: Keys, counts: Int64s, bounds: Int64s, arena: Bytes) -> int:
    """Move the words that have a new id down to it; returns how many there are."""
    size = 0
    for old in range(len(new_ids)):
        if new_ids[old] == ABSENT:
            continue
        start, end, used = bounds[old], bounds[old + 1], bounds[size]
        for step in range(end - start):
            arena[used + step] = arena[start + step]
        keys[size], counts[size] = keys[old], counts[old]
        size += 1
        bounds[size] = used + end - start
    return size
