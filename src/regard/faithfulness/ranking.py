"""Which words come first, and how many are taken: K words, or a share of a text's words.

Largest score first; words of the same score in the order of the text. **Choice**: a share is rounded up, so that 1 % of
a short text is one word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np

from regard.errors import InputError
from regard.faithfulness.scored import Doubles, Numbers


class Cut(NamedTuple):
    """How many words are taken of a text: so many, or this share of them."""

    amount: float
    share: bool = False

    def words(self, length: int) -> int:
        """Of a text of so many words; all of them where there are no more."""
        # 0.07 × 100 is a little more than 7, and 7 words are meant
        return min(length, math.ceil(self.amount * length - 1e-9) if self.share else int(self.amount))

    def __str__(self) -> str:
        return f"{100 * self.amount:g} %" if self.share else f"{self.amount:g}"


SHARES = tuple(Cut(share, True) for share in (0.01, 0.05, 0.1, 0.2, 0.5))  # ERASER's (DeYoung et al. 2020)
Cuts = Iterable[int | Cut]  # a number alone means so many words


def cut_offs(cuts: Cuts) -> tuple[Cut, ...]:
    if not isinstance(cuts, Iterable):
        raise InputError(f"cuts: {cuts!r} is given; a list of numbers of words, or of Cut(share, True), is accepted")
    found = tuple(cut if isinstance(cut, Cut) else Cut(cut) for cut in cuts)
    if not found:
        raise InputError("cuts: none was given; numbers of words, or Cut(share, True), are accepted")
    for cut in found:
        known = isinstance(cut.amount, Real) and 0 <= cut.amount <= (1 if cut.share else math.inf)
        if not known or not (cut.share or float(cut.amount).is_integer()):
            kind = "share" if cut.share else "number of words"
            raise InputError(
                f"cuts: {cut.amount!r} as a {kind}; whole numbers from 0, and shares from 0 to 1, are accepted"
            )
    return found


def ranking(scores: Sequence[float] | Doubles) -> Numbers:
    """The places of the words, the one that matters most first."""
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable").astype(np.int64)


def counts(lengths: Sequence[int], cuts: Sequence[Cut]) -> Numbers:
    """(texts, cuts) how many words are taken."""
    found = [[cut.words(length) for cut in cuts] for length in lengths]
    return np.array(found, dtype=np.int64).reshape(len(lengths), len(cuts))
