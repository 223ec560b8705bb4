"""The units of one text (words, beginnings of words, pairs of neighbours), without numba.

The counterpart of `Tokenizer.encode_all` for single texts; a test compares them. Words are those of `data/words`, so only the
rules of `kernels/units.py` are repeated here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import UNKNOWN
from regard.data.words import forms

EDGE = 0  # the id before the first and after the last word, in pairs

Ints = NDArray[np.int64]


class TextUnits(NamedTuple):
    ids: Ints  # (units,) words and beginnings in reading order, then pairs
    first: Ints  # (units,) the first word that a unit covers
    last: Ints  # (units,)
    words: Ints  # (words,) ids, UNKNOWN where a word has none
    beginnings: Ints  # (words,) ids, 0 where a word has none


class UnitReader:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.beginnings = {form: number for number, form in enumerate(tokenizer.beginnings, len(tokenizer.vocabulary))}
        keys = joined(tokenizer.pairs[:, 0], tokenizer.pairs[:, 1])
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def read(self, text: str) -> TextUnits:
        tokenizer = self.tokenizer
        words = forms(text, tokenizer.lowercase)[: tokenizer.max_words]
        ids = tokenizer.vocabulary.ids(words).astype(np.int64)
        letters, beginnings = tokenizer.letters, np.zeros(len(words), dtype=np.int64)
        if letters:
            find = self.beginnings.get
            beginnings[:] = [find(word[:letters], 0) if len(word) > letters else 0 for word in words]
        return self.units_of(ids, beginnings)

    def units_of(self, words: Ints, beginnings: Ints) -> TextUnits:
        """Without units other than words, every word is one; otherwise an unknown word is one only if there is no other."""
        positions = np.arange(len(words))
        if not self.tokenizer.has_units:
            return TextUnits(words, positions, positions, words, beginnings)
        singles = np.stack((np.where(words == UNKNOWN, 0, words), beginnings), 1).ravel()
        covered = np.repeat(positions, 2)
        edges = np.concatenate(([EDGE], words, [EDGE]))
        pairs = self.pair_ids(edges[:-1], edges[1:]) if len(words) else np.empty(0, dtype=np.int64)
        after = np.arange(len(pairs))
        ids = np.concatenate((singles, pairs))
        first = np.concatenate((covered, np.maximum(after - 1, 0)))
        last = np.concatenate((covered, np.minimum(after, max(len(words) - 1, 0))))
        real = ids > 0
        if not real.any():
            return TextUnits(words, positions, positions, words, beginnings)  # all of them unknown
        return TextUnits(ids[real], first[real], last[real], words, beginnings)

    def pair_ids(self, left: Ints, right: Ints) -> Ints:
        """The ids of pairs of word ids, 0 where a pair has none or contains an unknown word."""
        keys = joined(left, right)
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = (self.keys[places] == keys) & (left != UNKNOWN) & (right != UNKNOWN)
        return np.where(known, self.tokenizer.singles + self.order[places], 0)


def joined(left: NDArray[np.integer], right: NDArray[np.integer]) -> Ints:
    """A pair of ids as one number."""
    return (left.astype(np.int64) << 32) | right.astype(np.int64)


def to_words(units: TextUnits, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of words from values of units: half of a pair's goes to each of its words."""
    is_pair = units.last > units.first
    shares = values / (1 + is_pair)
    covered = np.concatenate((units.first, units.last))
    sums = np.bincount(covered, np.concatenate((shares, shares * is_pair)), len(units.words))
    return np.asarray(sums, dtype=np.float64)
