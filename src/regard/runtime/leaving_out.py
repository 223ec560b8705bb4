"""What leaving words out does to the answer of a flat model, from its tables; the closed form of `kernels/leaving_out.py`.

Sums over the units that are kept are sums of what stands before and after the words left out, never differences: a difference
of almost equal numbers has few correct digits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.vocabulary import UNKNOWN
from regard.models.flat import Tables
from regard.runtime.units import EDGE, TextUnits, UnitReader

Doubles = NDArray[np.float64]
MOST_HELD = 1 << 20  # entries of a mask over groups and words


class LeavingOut:
    """One text. Rows of sums have, for each member, Σ e^a s for each output and Σ e^a; at the end the number of units."""

    def __init__(self, reader: UnitReader, tables: Tables, units: TextUnits) -> None:
        self.reader, self.tables, self.units = reader, tables, units
        count = len(units.words)
        self.highest = tables.scores[units.ids].astype(np.float64).max(0, initial=-np.inf)  # (M,)
        rows = self.terms(units.ids)  # (units, M (C + 1) + 1)
        is_pair = units.ids >= reader.tokenizer.singles
        self.single = np.zeros((count, rows.shape[1]))  # of the units that cover one word
        np.add.at(self.single, units.first[~is_pair], rows[~is_pair])
        # of the pair before each word, and of the one after the last; a pair with an edge covers one word
        self.double = np.zeros((count + 1, rows.shape[1]))
        first, last = units.first[is_pair], units.last[is_pair]
        np.add.at(self.double, np.where((last > first) | (first == 0), last, count), rows[is_pair])
        self.whole = rows.sum(0)

    def terms(self, ids: NDArray[np.int64]) -> Doubles:
        weights = np.exp(self.tables.scores[ids].astype(np.float64) - self.highest)[:, :, None]  # (units, M, 1)
        sums = np.concatenate((weights * self.tables.polarity[ids], weights), 2)
        return np.concatenate((sums.reshape(len(ids), sums.shape[1] * sums.shape[2]), np.ones((len(ids), 1))), 1)

    def logits(self, sums: Doubles) -> Doubles:
        """(…, M (C + 1) + 1) -> (…, C); without units the bias alone"""
        members, outputs = self.tables.polarity.shape[1:]
        by_member = sums[..., :-1].reshape(*sums.shape[:-1], members, outputs + 1)
        totals = by_member[..., -1:]
        values: Doubles = (by_member[..., :-1] / np.where(totals > 0, totals, 1)).sum(-2) + self.tables.bias
        return values

    def each(self) -> Doubles:
        """The logits without each word.  (words, C)"""
        count = len(self.units.words)
        before, after = exclusive(self.single), exclusive(self.single[::-1])[::-1]
        pairs_before, pairs_after = exclusive(self.double), exclusive(self.double[::-1])[::-1]
        rest = before + after + pairs_before[:count] + pairs_after[1:]
        edges = np.concatenate(([EDGE], self.units.words, [EDGE]))
        return self.logits(self.completed(rest, edges[:-2], edges[2:], count - 1))

    def together(self, groups: Sequence[Sequence[int]]) -> Doubles:
        """The logits without all words of each group.  (groups, C)"""
        size = max(MOST_HELD // (len(self.units.words) + 2), 1)
        parts = [self.without(groups[low : low + size]) for low in range(0, len(groups), size)]
        return np.concatenate([np.empty((0, len(self.tables.bias))), *parts])

    def without(self, groups: Sequence[Sequence[int]]) -> Doubles:
        count = len(self.units.words)
        out = np.zeros((len(groups), count + 2), dtype=bool)  # with both edges
        for number, group in enumerate(groups):
            out[number, np.array(group) + 1] = True
        rest = (~out[:, 1:-1]).astype(np.float64) @ self.single
        rest += (~(out[:, :-1] | out[:, 1:])).astype(np.float64) @ self.double
        row, position = np.nonzero(~out)  # row by row, so that neighbours that are left stand next to each other
        joins = np.flatnonzero((np.diff(row) == 0) & (np.diff(position) > 1))
        edges = np.concatenate(([EDGE], self.units.words, [EDGE]))
        pairs = self.reader.pair_ids(edges[position[joins]], edges[position[joins + 1]])
        is_pair = pairs > 0
        np.add.at(rest, row[joins][is_pair], self.terms(pairs[is_pair]))
        left = count - out.sum(1)
        return self.logits(np.where((left > 0)[:, None], self.or_unknown(rest), 0.0))

    def completed(self, rest: Doubles, left: NDArray[np.int64], right: NDArray[np.int64], words: int) -> Doubles:
        """With the pairs of words that become neighbours, one per row."""
        if not words:
            return np.zeros_like(rest)
        pairs = self.reader.pair_ids(left, right)
        is_pair = pairs > 0
        rest[is_pair] += self.terms(pairs[is_pair])
        return self.or_unknown(rest)

    def or_unknown(self, rest: Doubles) -> Doubles:
        """If words are left but no unit is, they are read as unknown words."""
        polarity = self.tables.polarity[UNKNOWN].astype(np.float64)  # (M, C)
        unknown = np.append(np.concatenate((polarity, np.ones((len(polarity), 1))), 1).ravel(), 1.0)
        return np.where(rest[:, -1:] < 0.5, unknown, rest)


def exclusive(rows: Doubles) -> Doubles:
    """The sums of all rows before each row."""
    return np.concatenate((np.zeros((1, rows.shape[1])), np.cumsum(rows, 0)[:-1]))[: len(rows)]
