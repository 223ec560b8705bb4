"""Means over texts with confidence intervals, and paired comparisons: what generalises to other texts of the same kind.

Intervals are percentile bootstrap intervals over texts (Efron). If every value is 0 or 1, Wilson's interval is used instead:
with a hundred ones, every bootstrap sample is the same, yet the true share may be below 1. Two attributions of the same texts
are compared by the differences within each text: a bootstrap interval (Agresti & Min's of 2005 if all values are 0 or 1, for
the same reason), and p from a two-sided sign-flip permutation test, exact over all 2ⁿ signs if these are few. Holm (1979)
corrects for several tests. The same seed and number of texts give the same resamples. A text with a NaN has no value and is
left out.
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
HELD = 2**22  # numbers held in memory at a time


class Interval(NamedTuple):
    n: int  # texts that have a value
    mean: float  # NaN if there are none
    low: float  # NaN with fewer than two texts
    high: float


class Difference(NamedTuple):
    n: int
    mean: float
    low: float
    high: float
    p: float  # two-sided, of a mean difference of 0; NaN if there are no texts


def interval(values: Doubles, draws: int = RESAMPLES, seed: int = 0) -> Interval:
    """The interval of one value per text."""
    return intervals(values[:, None], draws, seed)[0]


def intervals(values: Doubles, draws: int = RESAMPLES, seed: int = 0) -> list[Interval]:
    """One interval per column of (texts, values); without draws, means only."""
    bootstrap = bootstrap_intervals(values, draws, seed)
    return [
        Interval(one.n, one.mean, *wilson_interval(one.mean, one.n)) if is_binary and not np.isnan(one.low) else one
        for one, is_binary in zip(bootstrap, are_binary(values), strict=True)
    ]


def are_binary(values: Doubles) -> list[bool]:
    """Per column, whether every value is 0 or 1."""
    return [bool(one) for one in ((values == 0) | (values == 1) | np.isnan(values)).all(0)]


def bootstrap_intervals(values: Doubles, draws: int, seed: int) -> list[Interval]:
    known = values[~np.isnan(values).any(axis=1)]
    n = len(known)
    nothing = np.full(values.shape[1], np.nan)
    mean = known.mean(0) if n else nothing
    low = high = nothing
    if n > 1 and draws:
        outside = (1 - CONFIDENCE) / 2
        low, high = np.quantile(resampled(known, draws, seed), (outside, 1 - outside), axis=0)
    return [Interval(n, *map(float, bounds)) for bounds in zip(mean, low, high, strict=True)]


def difference(one: Doubles, other: Doubles, draws: int = RESAMPLES, seed: int = 0) -> Difference:
    """`one` minus `other`, one value per text each."""
    return differences(one[:, None], other[:, None], draws, seed)[0]


def differences(one: Doubles, other: Doubles, draws: int = RESAMPLES, seed: int = 0) -> list[Difference]:
    """`one` minus `other`, (texts, values) each, paired by text; only texts for which both have a value."""
    if one.shape != other.shape:
        raise InputError(f"values: expected two arrays of the same shape, got {one.shape} and {other.shape}")
    gaps = one - other
    known = gaps[~np.isnan(gaps).any(axis=1)]
    p = sign_flip_p(known, seed=seed)
    results = [
        Interval(each.n, each.mean, *share_difference(column)) if is_binary and not np.isnan(each.low) else each
        for each, column, is_binary in zip(
            bootstrap_intervals(gaps, draws, seed), known.T, map(min, are_binary(one), are_binary(other)), strict=True
        )
    ]
    return [Difference(*each, float(p_value)) for each, p_value in zip(results, p, strict=True)]


def share_difference(gaps: Doubles) -> tuple[float, float]:
    """The interval of a mean of −1, 0 and 1 (Agresti & Min 2005): half a text is added to each of the four cases."""
    n = len(gaps) + 2
    up, down = (((gaps == side).sum() + 0.5) / n for side in (1, -1))
    middle, half = up - down, Z_95 * np.sqrt((up + down - (up - down) ** 2) / n)
    mean = gaps.mean()  # the interval contains it and stays within [−1, 1]
    return float(min(max(-1.0, middle - half), mean)), float(max(min(1.0, middle + half), mean))


def resampled(values: Doubles, draws: int, seed: int) -> Doubles:
    """(draws, values) means over as many texts, sampled with replacement."""
    n = len(values)

    def draw(rng: np.random.Generator, rows: int) -> Doubles:
        flat = rng.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
        return np.bincount(flat.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)

    return sums(values, draw, draws, seed) / n


def sign_flip_p(gaps: Doubles, draws: int = PERMUTATIONS, seed: int = 0) -> Doubles:
    """(values,) p of each mean difference: how often it would be as far from 0 if each text's sign were random."""
    n, total = len(gaps), gaps.sum(0)
    if not n:
        return np.full(gaps.shape[1], np.nan)
    if 2**n <= draws:
        flipped = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64) @ gaps
    else:
        flipped = sums(gaps, lambda rng, rows: rng.integers(0, 2, (rows, n)).astype(np.float64), draws, seed)
    # the tolerance counts sums that differ only by rounding
    beyond = (np.abs(total - 2 * flipped) >= np.abs(total) * (1 - 1e-9) - 1e-12).sum(0)
    return np.asarray(beyond / 2**n if 2**n <= draws else (beyond + 1) / (draws + 1))


def sums(values: Doubles, draw: Callable[[np.random.Generator, int], Doubles], draws: int, seed: int) -> Doubles:
    """(draws, values) sums over texts, weighted by the counts of each draw; some draws at a time, to save memory."""
    rng, rows = np.random.default_rng(seed), max(1, HELD // len(values))
    parts = [draw(rng, min(rows, draws - start)) @ values for start in range(0, draws, rows)]
    return np.concatenate(parts)


def holm(values: Sequence[float]) -> list[float]:
    """Each p corrected for the number of tests; NaN, a test that was not possible, does not count."""
    order = sorted((p, index) for index, p in enumerate(values) if not np.isnan(p))
    corrected, highest = [float("nan")] * len(values), 0.0
    for rank, (p, index) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p))
        corrected[index] = highest
    return corrected
