"""Numbers for words: an open-addressing hash table from byte strings to 0, 1, 2, … with how often each was added.

A word of at most 7 bytes is its own key (the bytes, and the length above them), so equal keys are equal words. A longer
one has FNV-1a with the highest bit set, and equal keys are compared byte by byte. Words are never merged by accident.
At most half of the slots are taken; probing is linear.

When a stream brings more words than there is room for, the rarest are dropped, as in fastText (Joulin et al., 2017).
That the counts go on from 0 for a word that was dropped and comes again is so there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

compiled = numba.njit(cache=True, nogil=True)
inner = numba.njit()  # kept with the function that calls it

Bytes = NDArray[np.uint8]
Ids = NDArray[np.int32]
Places = NDArray[np.int64]
Keys = NDArray[np.uint64]

NOBODY = -1
SHORT = 7
LONG = np.uint64(1 << 63)
OFFSET_BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a, 64 bits
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
ALL, HALF = np.uint64(2**64 - 1), np.uint64(32)


class Dictionary:
    """Words [start, end) of `data` get numbers in the order of their first coming."""

    def __init__(self, slots: int = 1 << 14, room: int = 1 << 16) -> None:
        """`slots` (a power of 2) and bytes of `room` to begin with; both grow."""
        self._size = 0
        self._slots: Ids = np.full(slots, NOBODY, dtype=np.int32)  # the number of the word that hangs here
        self._keys: Keys = np.empty(slots // 2, dtype=np.uint64)
        self._counts: Places = np.zeros(slots // 2, dtype=np.int64)
        self._bounds: Places = np.zeros(slots // 2 + 1, dtype=np.int64)  # of the words in the arena
        self._arena: Bytes = np.empty(room, dtype=np.uint8)

    @classmethod
    def of(cls, words: Sequence[str]) -> Dictionary:
        """The i-th word has number i, and was not counted yet."""
        parts = [word.encode("utf-8", "surrogatepass") for word in words]
        bounds = np.zeros(len(parts) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)), out=bounds[1:])
        made = cls()
        ids = made.add(np.frombuffer(bytearray().join(parts), dtype=np.uint8), bounds[:-1], bounds[1:])
        if len(made) < len(words):
            twice = words[int(np.flatnonzero(ids != np.arange(len(ids)))[0])]
            raise ValueError(f"words: {twice!r} stands there twice; every word of a dictionary must be another one")
        made._counts[:] = 0
        return made

    def __len__(self) -> int:
        return self._size

    @property
    def counts(self) -> Places:
        return self._counts[: self._size].copy()

    def words(self) -> list[str]:
        bounds = self._bounds[: self._size + 1]
        raw = self._arena[: bounds[-1]].tobytes()
        return [raw[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(bounds.tolist())]

    def add(self, data: Bytes, starts: Places, ends: Places) -> Ids:
        """The numbers of these words, new ones for new words, and each counted."""
        ids = np.empty(len(starts), dtype=np.int32)
        done = 0
        while True:
            done, self._size = self._number(data, starts, ends, ids, done, adding=True)
            if done == len(starts):
                return ids
            if self._size == len(self._counts):
                self._grow()
            else:
                room = max(2 * len(self._arena), int(self._bounds[self._size] + ends[done] - starts[done]))
                self._arena = _longer(self._arena, room)

    def look_up(self, data: Bytes, starts: Places, ends: Places, unknown: int = NOBODY) -> Ids:
        """The numbers of these words, `unknown` for those that are not here; nothing is added or counted."""
        ids = np.empty(len(starts), dtype=np.int32)
        self._number(data, starts, ends, ids, unknown=unknown)
        return ids

    def prune(self, most: int) -> Ids:
        """If there are more than `most` words, drop the rarest, until at most half of `most` are left.

        Words of one count stay or go together, and the others keep their order. The new number of each old one, −1 for
        a dropped one.
        """
        if self._size <= most:
            return np.arange(self._size, dtype=np.int32)
        counts = self._counts[: self._size]
        place = self._size - 1 - most // 2
        kept = counts > np.partition(counts, place)[place]
        numbers = np.where(kept, np.cumsum(kept) - 1, NOBODY).astype(np.int32)
        self._size = _compact(numbers, self._keys, self._counts, self._bounds, self._arena)
        self._hang(len(self._slots))
        return numbers

    def _number(
        self, data: Bytes, starts: Places, ends: Places, ids: Ids, done: int = 0, adding: bool = False, unknown: int = 0
    ) -> tuple[int, int]:
        table = (self._slots, self._keys, self._counts, self._bounds, self._arena, self._size)
        return _number(data, starts, ends, done, adding, unknown, ids, *table)

    def _grow(self) -> None:
        slots = 2 * len(self._slots)
        self._keys = _longer(self._keys, slots // 2)
        self._counts = _longer(self._counts, slots // 2)
        self._bounds = _longer(self._bounds, slots // 2 + 1)
        self._hang(slots)

    def _hang(self, slots: int) -> None:
        self._slots = np.full(slots, NOBODY, dtype=np.int32)
        _hang(self._slots, self._keys, self._size)


def _longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    longer = np.zeros(length, dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@inner
def _key(data: Bytes, start: int, end: int) -> np.uint64:
    length = end - start
    if length > SHORT:
        key = OFFSET_BASIS
        for place in range(start, end):
            key = (key ^ np.uint64(data[place])) * PRIME
        return key | LONG
    key = np.uint64(0)
    if start + 8 > len(data):
        for step in range(length):
            key |= np.uint64(data[start + step]) << np.uint64(8 * step)
    else:  # always 8 steps are quicker than as many as are needed; so are unsigned places, which can't be before 0
        for step in range(8):
            key |= np.uint64(data[np.uint64(start) + np.uint64(step)]) << np.uint64(8 * step)
        key &= ~(ALL << np.uint64(8 * length))
    return key | np.uint64(length) << np.uint64(56)


@inner
def _first_slot(key: np.uint64, slots: Ids) -> np.int64:
    mixed = (key ^ key >> HALF) * SPREAD
    return np.int64(mixed >> HALF) & len(slots) - 1


@inner
def _is_there(data: Bytes, start: int, end: int, bounds: Places, arena: Bytes, number: int) -> bool:
    first = bounds[number]
    length = end - start
    same = 0
    if bounds[number + 1] - first == length:
        while same < length and arena[first + same] == data[start + same]:
            same += 1
    return same == length


@compiled
def _number(
    data: Bytes, starts: Places, ends: Places, first: int, adding: bool, unknown: int, ids: Ids,
    slots: Ids, keys: Keys, counts: Places, bounds: Places, arena: Bytes, size: int,
) -> tuple[int, int]:  # fmt: skip
    """From word `first` on, up to the one that there is no room for; this one, and how many words are known then."""
    for index in range(first, len(starts)):
        start, end = starts[index], ends[index]
        key = _key(data, start, end)
        slot = _first_slot(key, slots)
        number = slots[slot]
        while number != NOBODY:
            if keys[number] == key and (key < LONG or _is_there(data, start, end, bounds, arena, number)):
                break
            slot = slot + 1 & len(slots) - 1
            number = slots[slot]
        if adding:
            if number == NOBODY:
                filled = bounds[size]
                if size == len(counts) or filled + end - start > len(arena):
                    return index, size
                number = np.int32(size)
                slots[slot], keys[size], counts[size] = number, key, 0
                for step in range(end - start):  # a slice would take seconds to compile
                    arena[filled + step] = data[start + step]
                size += 1
                bounds[size] = filled + end - start
            counts[number] += 1
        ids[index] = unknown if number == NOBODY else number
    return len(starts), size


@compiled
def _hang(slots: Ids, keys: Keys, size: int) -> None:
    """All words into an empty table; they differ, so nothing is compared."""
    for number in range(size):
        slot = _first_slot(keys[number], slots)
        while slots[slot] != NOBODY:
            slot = slot + 1 & len(slots) - 1
        slots[slot] = number


@compiled
def _compact(renamed: Ids, keys: Keys, counts: Places, bounds: Places, arena: Bytes) -> int:
    """The words that have a new number, moved down to it; how many these are."""
    size = 0
    for old in range(len(renamed)):
        if renamed[old] == NOBODY:
            continue
        start, end, filled = bounds[old], bounds[old + 1], bounds[size]
        for step in range(end - start):
            arena[filled + step] = arena[start + step]
        keys[size], counts[size] = keys[old], counts[old]
        size += 1
        bounds[size] = filled + end - start
    return size
