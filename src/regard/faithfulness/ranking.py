"""Ranking of words, and how many of the top words are taken: K words, or a share of a text's words.

Largest score first; ties in the order of the text. **Choice**: a share is rounded up, so that 1 % of a short text is one word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np

from regard.errors import InputError
from regard.faithfulness.scored import Doubles, Ints


class Cut(NamedTuple):
    """How many words of a text are taken: a number, or a share of them."""

    amount: float
    share: bool = False

    def words(self, length: int) -> int:
        """The number of words for a text of `length` words, at most all of them."""
        # 0.07 × 100 is slightly more than 7 in floating point
        return min(length, math.ceil(self.amount * length - 1e-9) if self.share else int(self.amount))

    def __str__(self) -> str:
        return f"{100 * self.amount:g} %" if self.share else f"{self.amount:g}"


SHARES = tuple(Cut(share, True) for share in (0.01, 0.05, 0.1, 0.2, 0.5))  # ERASER's (DeYoung et al. 2020)
Cuts = Iterable[int | Cut]  # an int is a number of words


def cut_offs(cuts: Cuts) -> tuple[Cut, ...]:
    if not isinstance(cuts, Iterable):
        raise InputError(f"cuts: expected a list of numbers of words or of Cut(share, True), got {cuts!r}")
    checked = tuple(cut if isinstance(cut, Cut) else Cut(cut) for cut in cuts)
    if not checked:
        raise InputError("cuts: expected at least one number of words or Cut(share, True), got none")
    for cut in checked:
        in_bounds = isinstance(cut.amount, Real) and 0 <= cut.amount <= (1 if cut.share else math.inf)
        if not in_bounds or not (cut.share or float(cut.amount).is_integer()):
            expected = "shares from 0 to 1" if cut.share else "whole numbers of words from 0"
            raise InputError(f"cuts: expected {expected}, got {cut.amount!r}")
    return checked


def ranking(scores: Sequence[float] | Doubles) -> Ints:
    """The indices of the words, largest score first."""
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable").astype(np.int64)


def counts(lengths: Sequence[int], cuts: Sequence[Cut]) -> Ints:
    """(texts, cuts) how many words are taken."""
    taken = [[cut.words(length) for cut in cuts] for length in lengths]
    return np.array(taken, dtype=np.int64).reshape(len(lengths), len(cuts))
