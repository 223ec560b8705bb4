"""Means with intervals over seeds, and tests between methods that are paired by seed.

Student's t interval and paired t-test; also Wilcoxon's signed-rank test if there are at least six pairs (with fewer, p cannot
be below 0.05); Holm's correction (1979) over all comparisons of a table. If all differences are equal, there is no variance
to test against: two seeds that happen to agree prove nothing, and p is None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regard.faithfulness import intervals
from regard.report.plots.lines import Curve

FEWEST = 6  # pairs for Wilcoxon's test
DECIMALS = 12  # of a difference: 0.81 − 0.80 and 0.41 − 0.40 are tied, though not to the last bit


class Interval(NamedTuple):
    n: int
    mean: float
    half: float | None  # half of the 95 % interval; None for a single value

    @property
    def low(self) -> float:
        return self.mean - (self.half or 0.0)

    @property
    def high(self) -> float:
        return self.mean + (self.half or 0.0)


class Paired(NamedTuple):
    difference: Interval
    p: float | None  # None with fewer than two pairs, or without variance
    wilcoxon: float | None


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Mean and half of its 95 % interval; None without values."""
    n = len(values)
    if not n:
        return None
    mean = math.fsum(values) / n
    if n == 1:
        return Interval(1, mean, None)
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    return Interval(n, mean, float(stdtrit(n - 1, (1 + intervals.CONFIDENCE) / 2)) * deviation / math.sqrt(n))


def paired(one: Mapping[int, float], other: Mapping[int, float]) -> Paired | None:
    """`one` minus `other` over the seeds that both have; None if they have none in common."""
    differences = [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]
    mean_difference = mean_interval(differences)
    if mean_difference is None:
        return None
    return Paired(mean_difference, t_test(differences), signed_rank(differences))


def t_test(differences: Sequence[float]) -> float | None:
    """Two-sided p of the mean difference being 0."""
    n = len(differences)
    if n < 2:
        return None
    mean = math.fsum(differences) / n
    squares = math.fsum((value - mean) ** 2 for value in differences)
    if squares <= 1e-24 * max(1.0, mean**2):  # all equal: what is left is rounding
        return 1.0 if mean == 0 else None
    from scipy.special import stdtr

    return float(2 * stdtr(n - 1, -abs(mean) / math.sqrt(squares / (n - 1) / n)))


def signed_rank(differences: Sequence[float]) -> float | None:
    """Two-sided p, without pairs that do not differ. With ties, by a permutation test over all signs, or over random signs for
    14 pairs or more: for six equal differences the usual approximation gives 0.014, but they all have one sign in 2 of 64
    cases."""
    nonzero = [rounded for value in differences if (rounded := round(value, DECIMALS))]
    if len(nonzero) < FEWEST:
        return None
    import numpy as np
    from scipy.stats import rankdata, wilcoxon  # type: ignore[import-untyped]

    if len({abs(value) for value in nonzero}) == len(nonzero):
        return float(wilcoxon(nonzero, method="exact").pvalue)
    ranks = np.sign(nonzero) * rankdata(np.abs(nonzero))
    return float(intervals.sign_flip_p(ranks[:, None])[0])


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Each p corrected for the number of tests; comparisons that could not be tested are None and are not counted."""
    corrected = intervals.holm([math.nan if p is None else p for p in values])
    return [None if math.isnan(p) else p for p in corrected]


def over_seeds(name: str, x: Sequence[float], values: Sequence[Sequence[float]]) -> Curve:
    """`values`: those of all seeds, for each x. Points without any value are left out."""
    points = [(at, mean) for at, seeds in zip(x, values, strict=True) if (mean := mean_interval(seeds)) is not None]
    means = [mean for _, mean in points]
    y, low, high = (tuple(getattr(mean, part) for mean in means) for part in ("mean", "low", "high"))
    return Curve(name, tuple(at for at, _ in points), y, low, high)


def standard_error(interval: Interval) -> float:
    """Of the mean; 0 if the values do not vary or there is only one."""
    if not interval.half:
        return 0.0
    from scipy.special import stdtrit

    return interval.half / float(stdtrit(interval.n - 1, (1 + intervals.CONFIDENCE) / 2))
