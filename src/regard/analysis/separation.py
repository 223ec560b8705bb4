"""How well a score separates two groups: the area under the ROC curve, with DeLong's variance (Biometrics, 1988)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.student import t_quantile
from regard.wilson import wilson_interval

# Fewest members of either group for an interval. For samples from two normals of equal variance, 487 against n, with a true
# area of 0.5, 0.7 and 0.9, it covers that in 96, 96 and 91 % of cases with n = 10, and in 85 % or more if one standard
# deviation is 2.5 times the other. With fewer it is almost useless: with n = 3 it is 0.8 wide.
FEWEST = 10


class Separation(NamedTuple):
    auc: float  # the probability that a member of the first group has the larger score; a tie counts half
    low: float | None  # None if a group has fewer than FEWEST members
    high: float | None


def separation(group: NDArray[np.float64], others: NDArray[np.float64]) -> Separation | None:
    """None if a group is empty. The interval treats the members as independent.

    It is computed on the scale of log-odds, so that it stays within 0 and 1, with the t distribution and the degrees of
    freedom of the smaller group. If the groups do not overlap there is no variance, and it is that of a proportion in the
    smaller group.
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
    below = 1 - placements(others, group)
    error = math.sqrt(sum(float(part.var(ddof=1)) / len(part) for part in (above, below)))
    reach = t_quantile(fewer - 1, 0.975) * error / (auc * (1 - auc))
    odds = auc / (1 - auc)
    return Separation(auc, *(1 / (1 + math.exp(side) / odds) for side in (reach, -reach)))


def placements(group: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each member, the share of the others below it; ties count half."""
    order = np.sort(others)
    below, level = np.searchsorted(order, group, "left"), np.searchsorted(order, group, "right")
    return np.asarray((below + level) / (2 * len(others)))
