"""How well one number tells two groups apart: the area under the ROC curve, with DeLong's variance (Biometrics, 1988)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.wilson import wilson_interval

# Members of either group, from which there is an interval. Drawn from two normals of equal spread, 487 against n, with a true
# area of 0.5, 0.7 and 0.9, it covers that in 96, 96 and 91 % of cases with n = 10, and in 85 % or more where one spread is 2.5
# times the other. Of fewer it says next to nothing: with n = 3 it is 0.8 wide.
FEWEST = 10


class Separation(NamedTuple):
    auc: float  # the chance that a member of the first group has the larger number; a tie counts half
    low: float | None  # None where a group has fewer than FEWEST
    high: float | None


def separation(group: NDArray[np.float64], others: NDArray[np.float64]) -> Separation | None:
    """None where a group is empty. The interval takes the members for independent.

    It is made on the scale of log-odds, so that it keeps within 0 and 1, with t for as many degrees as the smaller group
    leaves. Where the groups do not overlap there is no variance, and it is that of a share of the smaller group.
    """
    if not len(group) or not len(others):
        return None
    above = placements(group, others)
    auc = float(above.mean())
    fewer = min(len(group), len(others))
    if fewer < FEWEST:
        return Separation(auc, None, None)
    if auc in (0.0, 1.0):
        return Separation(auc, *wilson_interval(auc, fewer))
    from scipy.special import expit, logit, stdtrit  # type: ignore[import-untyped]

    below = 1 - placements(others, group)
    error = math.sqrt(sum(float(part.var(ddof=1)) / len(part) for part in (above, below)))
    reach = float(stdtrit(fewer - 1, 0.975)) * error / (auc * (1 - auc))
    return Separation(auc, float(expit(logit(auc) - reach)), float(expit(logit(auc) + reach)))


def placements(group: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each member, the share of the others that lie below it; those level with it count half."""
    order = np.sort(others)
    below, level = np.searchsorted(order, group, "left"), np.searchsorted(order, group, "right")
    return np.asarray((below + level) / (2 * len(others)))
