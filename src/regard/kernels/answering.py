"""Answers of a flat attention model for many texts, without weights: additions of numbers that do not depend on the text.

    logits = b + Σ_m (Σ_j w_mj s_mj) / (Σ_j w_mj),    w_mj = exp(a_mj − max_k a_mk)

Instead of the maximum over the units of a text, as in `attention.attend`, that over all units is subtracted, so that w and w s
are computed once: a unit costs M (C + 1) additions, and no exponential. Sums are float64. Where the sum of some w is tiny,
because a text has only units with scores far below the highest, or no known unit at all, the text is left to `attend`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.dictionary import ABSENT, Dictionary
from regard.kernels.pairs import EDGE, EMPTY, UNKNOWN, PairTable, slot_of
from regard.kernels.prefetching import prefetch
from regard.kernels.units import beginning_ends

compiled = compiling.compiled(error_model="numpy")

Bytes = NDArray[np.uint8]
Ids = NDArray[np.int32]
Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

TINY = 1e-20  # sums of w below this are left to `attend`: float32 has no more than 1e-38


class Sums(NamedTuple):
    """What the answers of some texts are made of."""

    ids: Ids  # (words,)
    rows: Ids  # (words,) the unit of an unknown word's beginning, or 0
    pairs: Ids  # (words + texts,) the unit of the pair before each word, and of the one at the end of a text, or 0
    totals: Doubles  # (texts, M (C + 1))
    left: NDArray[np.bool_]  # (texts,) which texts are left to `attend`


class Answering(NamedTuple):
    """What the units of a model add to the sums of a text."""

    words: Floats  # (words, M (C + 1)) w s for each output and then w, by member; with those of the word's beginning
    units: Floats  # (units, M (C + 1)) the same of every unit alone; row 0 stands for none and is 0
    bias: Floats  # (C,)
    dictionary: Dictionary
    beginnings: Dictionary
    letters: int  # of a word's beginning; 0: beginnings are not read
    pairs: PairTable

    @classmethod
    def of(
        cls,
        tables: tuple[Floats, Floats, Floats],  # `Tables`: (U, M), (U, M, C), (C,)
        dictionaries: tuple[Dictionary, Dictionary],  # of words, whose ids begin at 2, and of beginnings, which follow
        letters: int,
        pairs: PairTable,
        reads_unknown: bool,  # whether an unknown word is a unit like any other
    ) -> Answering:
        scores, polarity, bias = tables
        wide = scores.astype(np.float64)  # the difference of two scores has few digits in float32
        weights = np.exp(wide - wide.max(0))[:, :, None]
        units = np.concatenate((weights * polarity, weights), 2).reshape(len(scores), -1).astype(np.float32)
        units[EDGE] = 0
        known, beginnings = dictionaries
        first = len(known) + 2
        words = units[:first].copy()
        if not reads_unknown:
            words[UNKNOWN] = 0
        if letters:
            starts, ends = known._bounds[: len(known)], known._bounds[1 : len(known) + 1]
            found = beginnings.look_up(known._arena, starts, beginning_ends(known._arena, starts, ends, letters))
            has_one = found != ABSENT
            words[2:][has_one] += units[first + found[has_one]]
        return cls(words, units, bias, known, beginnings, letters, pairs)

    def answer(self, data: Bytes, starts: Ints, ends: Ints, counts: Ints, logits: Floats) -> Ints:
        """(texts, C) written in place, of the words of packed texts; returns the texts that are left to `attend`."""
        return np.flatnonzero(self.add_up(data, starts, ends, counts, logits, is_kept=False).left)

    def add_up(self, data: Bytes, starts: Ints, ends: Ints, counts: Ints, logits: Floats, is_kept: bool = True) -> Sums:
        """The same, with what the answers are made of if it is to be kept."""
        ids = self.dictionary.look_up(data, starts, ends) + 2
        rows = np.zeros(len(ids), dtype=np.int32)
        if self.letters:
            unknown = np.flatnonzero(ids == UNKNOWN)
            begin, first = starts[unknown], len(self.dictionary) + 2
            stop = beginning_ends(data, begin, ends[unknown], self.letters)
            rows[unknown] = self.beginnings.look_up(data, begin, stop, unknown=-first) + first
        texts = len(counts) if is_kept else 0
        sums = Sums(
            ids,
            rows,
            np.empty(len(ids) + texts if is_kept else 0, dtype=np.int32),
            np.empty((texts, self.units.shape[1])),
            np.zeros(len(counts), dtype=np.bool_),
        )
        tables = (self.words, self.units, self.pairs.keys, self.pairs.ids, self.bias)
        _add_up(ids, rows, counts, *tables, logits, sums.left, sums.pairs, sums.totals)
        return sums


@compiled
def _add_up(
    ids: Ids, rows: Ids, counts: Ints, words: Floats, units: Floats, pair_keys: Ints, pair_ids: Ids, bias: Floats,
    logits: Floats, left: NDArray[np.bool_], kept: Ids, totals: Doubles,
) -> None:  # fmt: skip
    """`kept` and `totals` are filled unless they are empty."""
    is_kept = len(kept) > 0
    outputs, size, mask = len(bias), units.shape[1], len(pair_keys) - 1
    members = size // (outputs + 1)
    longest = 0
    for text in range(len(counts)):
        longest = max(longest, counts[text])
    keys, slots = np.empty(longest + 1, dtype=np.int64), np.empty(longest + 1, dtype=np.int64)
    places = np.empty(longest + 1, dtype=np.int64)  # the word after each pair
    total = np.empty(size)
    low = 0
    for text in range(len(counts)):
        count = counts[text]
        for k in range(size):
            total[k] = 0.0
        if is_kept:
            for place in range(low + text, low + text + count + 1):
                kept[place] = 0
        # First all keys, then all slots, then all rows: memory answers several requests at a time.
        pairs, before = 0, np.int64(EDGE)
        for word in range(count + 1 if count else 0):
            after = np.int64(ids[low + word]) if word < count else np.int64(EDGE)
            if before != UNKNOWN and after != UNKNOWN:
                keys[pairs] = before << 32 | after
                slots[pairs] = slot_of(keys[pairs], len(pair_keys))
                places[pairs] = word
                prefetch(pair_keys, slots[pairs])
                prefetch(pair_ids, slots[pairs])
                pairs += 1
            if word < count:
                prefetch(words, after)
            before = after
        for word in range(count):
            row = ids[low + word]
            for k in range(size):
                total[k] += words[row, k]
            row = rows[low + word]
            if row:
                for k in range(size):
                    total[k] += units[row, k]
        found = 0
        for pair in range(pairs):
            slot, key = slots[pair], keys[pair]
            while pair_keys[slot] != EMPTY and pair_keys[slot] != key:
                slot = (slot + 1) & mask
            if pair_keys[slot] == key:
                slots[found] = pair_ids[slot]
                prefetch(units, slots[found])
                if is_kept:
                    kept[low + text + places[pair]] = slots[found]
                found += 1
        for pair in range(found):
            row = slots[pair]
            for k in range(size):
                total[k] += units[row, k]
        if is_kept:
            for k in range(size):
                totals[text, k] = total[k]
        for c in range(outputs):
            logits[text, c] = bias[c]
        for m in range(members):
            weight = total[m * (outputs + 1) + outputs]
            if not weight > TINY:
                left[text] = True
                break
            for c in range(outputs):
                logits[text, c] += total[m * (outputs + 1) + c] / weight
        low += count
