"""Means over texts with their intervals, and paired comparisons: what may be said of other texts of the same kind.

Intervals are percentiles of means over texts drawn again with replacement (Efron). Where every text says 0 or 1 they are
Wilson's: of a hundred texts that all say yes no draw differs, which is not to know that every text does. Two attributions of
the same texts are compared by the differences within each text: an interval of drawn texts (where both say 0 or 1, Agresti &
Min's of 2005, for the same reason), and p from a sign-flip permutation test, two-sided, all 2ⁿ signs where they are few. Holm
(1979) corrects for several tests. The same seed draws the same texts, so that whatever has as many texts is drawn alike. A
text with a NaN has no value and is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from regard.errors import InputError
from regard.faithfulness.scored import Doubles
from regard.wilson import Z_95, wilson_interval

CONFIDENCE = 0.95
RESAMPLES = 1000
PERMUTATIONS = 9999
HELD = 2**22  # numbers in memory at a time


class Interval(NamedTuple):
    n: int  # texts that have a value
    mean: float  # NaN where there are none
    low: float  # NaN with fewer than two texts: there is no spread to see
    high: float


class Difference(NamedTuple):
    n: int
    mean: float
    low: float
    high: float
    p: float  # two-sided, that the mean difference is 0; NaN where there are no texts


def interval(values: Doubles, draws: int = RESAMPLES, seed: int = 0) -> Interval:
    """Of one value a text."""
    return intervals(values[:, None], draws, seed)[0]


def intervals(values: Doubles, draws: int = RESAMPLES, seed: int = 0) -> list[Interval]:
    """Of several values a text, (texts, values), each by itself; without draws there are means only."""
    found = spreads(values, draws, seed)
    return [
        Interval(one.n, one.mean, *wilson_interval(one.mean, one.n)) if is_share and not np.isnan(one.low) else one
        for one, is_share in zip(found, shares(values), strict=True)
    ]


def shares(values: Doubles) -> list[bool]:
    """Of each column, whether every text says 0 or 1."""
    return [bool(one) for one in ((values == 0) | (values == 1) | np.isnan(values)).all(0)]


def spreads(values: Doubles, draws: int, seed: int) -> list[Interval]:
    """Whatever the values are."""
    known = values[~np.isnan(values).any(axis=1)]
    n = len(known)
    nothing = np.full(values.shape[1], np.nan)
    mean = known.mean(0) if n else nothing
    low = high = nothing
    if n > 1 and draws:
        outside = (1 - CONFIDENCE) / 2
        low, high = np.quantile(resampled(known, draws, seed), (outside, 1 - outside), axis=0)
    return [Interval(n, *map(float, each)) for each in zip(mean, low, high, strict=True)]


def difference(one: Doubles, other: Doubles, draws: int = RESAMPLES, seed: int = 0) -> Difference:
    """`one` less `other`, one value a text each."""
    return differences(one[:, None], other[:, None], draws, seed)[0]


def differences(one: Doubles, other: Doubles, draws: int = RESAMPLES, seed: int = 0) -> list[Difference]:
    """`one` less `other`, (texts, values) each, paired by text; texts that both have a value for."""
    if one.shape != other.shape:
        raise InputError(f"values of shapes {one.shape} and {other.shape} to be paired; one shape is accepted")
    apart = one - other
    known = apart[~np.isnan(apart).any(axis=1)]
    p = permuted(known, seed=seed)
    found = [
        Interval(each.n, each.mean, *share_difference(own)) if is_share and not np.isnan(each.low) else each
        for each, own, is_share in zip(
            spreads(apart, draws, seed), known.T, map(min, shares(one), shares(other)), strict=True
        )
    ]
    return [Difference(*each, float(chance)) for each, chance in zip(found, p, strict=True)]


def share_difference(apart: Doubles) -> tuple[float, float]:
    """The interval of a mean of −1, 0 and 1 (Agresti & Min 2005): with half a text more in each of the four cases."""
    n = len(apart) + 2
    up, down = (((apart == side).sum() + 0.5) / n for side in (1, -1))
    middle, half = up - down, Z_95 * np.sqrt((up + down - (up - down) ** 2) / n)
    mean = apart.mean()  # which it holds, and keeps within −1 and 1
    return float(min(max(-1.0, middle - half), mean)), float(max(min(1.0, middle + half), mean))


def resampled(values: Doubles, draws: int, seed: int) -> Doubles:
    """(draws, values) means over as many texts, drawn with replacement."""
    n = len(values)

    def draw(chance: np.random.Generator, rows: int) -> Doubles:
        flat = chance.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
        return np.bincount(flat.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)

    return sums(values, draw, draws, seed) / n


def permuted(apart: Doubles, draws: int = PERMUTATIONS, seed: int = 0) -> Doubles:
    """(values,) p of each mean difference, had each text's sign been tossed: how often it would lie as far from 0."""
    n, total = len(apart), apart.sum(0)
    if not n:
        return np.full(apart.shape[1], np.nan)
    if 2**n <= draws:
        turned = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64) @ apart
    else:
        turned = sums(apart, lambda chance, rows: chance.integers(0, 2, (rows, n)).astype(np.float64), draws, seed)
    # a sum that is the same but for rounding lies as far
    beyond = (np.abs(total - 2 * turned) >= np.abs(total) * (1 - 1e-9) - 1e-12).sum(0)
    return np.asarray(beyond / 2**n if 2**n <= draws else (beyond + 1) / (draws + 1))


def sums(values: Doubles, draw: Callable[[np.random.Generator, int], Doubles], draws: int, seed: int) -> Doubles:
    """(draws, values) sums over texts, each taken as often as a draw says; a part of the draws at a time."""
    chance, rows = np.random.default_rng(seed), max(1, HELD // len(values))
    parts = [draw(chance, min(rows, draws - start)) @ values for start in range(0, draws, rows)]
    return np.concatenate(parts)


def holm(values: Sequence[float]) -> list[float]:
    """Each p corrected for the number of tests; NaN, a test that could not be made, doesn't count."""
    order = sorted((p, place) for place, p in enumerate(values) if not np.isnan(p))
    corrected, highest = [float("nan")] * len(values), 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p))
        corrected[place] = highest
    return corrected
