"""Means with intervals over seeds, and tests between methods that are paired by seed.

Student's t interval and paired t-test; Wilcoxon's signed-rank test beside it where there are six pairs or more (with
fewer no p below 0.05 is possible); Holm's correction (1979) over all comparisons of a table. Where all differences are the
same there is no spread to test against: two seeds that happen to agree are no proof, and no p is given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from regard.faithfulness import intervals
from regard.report.plots.lines import Curve

FEWEST = 6  # pairs for Wilcoxon's test
DECIMALS = 12  # of a difference: 0.81 − 0.80 and 0.41 − 0.40 are a tie, though not to the last bit


class Interval(NamedTuple):
    n: int
    mean: float
    half: float | None  # of the 95 % interval; None of a single value

    @property
    def low(self) -> float:
        return self.mean - (self.half or 0.0)

    @property
    def high(self) -> float:
        return self.mean + (self.half or 0.0)


class Paired(NamedTuple):
    difference: Interval
    p: float | None  # None with fewer than two pairs, or no spread
    wilcoxon: float | None


def interval(values: Sequence[float]) -> Interval | None:
    """Mean and half of its 95 % interval; None where there are no values."""
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
    """`one` minus `other` over the seeds that both have; None where they share none."""
    differences = [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]
    found = interval(differences)
    if found is None:
        return None
    return Paired(found, t_test(differences), signed_rank(differences))


def t_test(differences: Sequence[float]) -> float | None:
    """Two-sided p of the mean difference being 0."""
    n = len(differences)
    if n < 2:
        return None
    mean = math.fsum(differences) / n
    squares = math.fsum((value - mean) ** 2 for value in differences)
    if squares <= 1e-24 * max(1.0, mean**2):  # all alike: what is left is rounding
        return 1.0 if mean == 0 else None
    from scipy.special import stdtr

    return float(2 * stdtr(n - 1, -abs(mean) / math.sqrt(squares / (n - 1) / n)))


def signed_rank(differences: Sequence[float]) -> float | None:
    """Two-sided p; pairs without a difference are left out. Of tied ones by tossing all signs, of 14 pairs or more by drawn
    ones: the usual approximation says 0.014 of six that are alike, which by chance have one sign twice in 64 times."""
    moved = [near for value in differences if (near := round(value, DECIMALS))]
    if len(moved) < FEWEST:
        return None
    import numpy as np
    from scipy.stats import rankdata, wilcoxon  # type: ignore[import-untyped]

    if len({abs(value) for value in moved}) == len(moved):
        return float(wilcoxon(moved, method="exact").pvalue)
    ranks = np.sign(moved) * rankdata(np.abs(moved))
    return float(intervals.sign_flip_p(ranks[:, None])[0])


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Each p corrected for the number of tests; those that could not be made are None and don't count."""
    corrected = intervals.holm([math.nan if p is None else p for p in values])
    return [None if math.isnan(p) else p for p in corrected]


def over_seeds(name: str, x: Sequence[float], values: Sequence[Sequence[float]]) -> Curve:
    """`values`: those of the seeds at each x. An x that no seed has a value at is left out."""
    found = [(at, one) for at, several in zip(x, values, strict=True) if (one := interval(several)) is not None]
    means = [one for _, one in found]
    y, low, high = (tuple(getattr(one, part) for one in means) for part in ("mean", "low", "high"))
    return Curve(name, tuple(at for at, _ in found), y, low, high)
