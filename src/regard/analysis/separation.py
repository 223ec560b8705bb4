"""How well one number tells two groups apart: the area under the ROC curve, with DeLong's interval (Biometrics, 1988)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NORMAL = 1.959963984540054  # 95 %


class Separation(NamedTuple):
    auc: float  # the chance that a member of the first group has the larger number; a tie counts half
    low: float
    high: float


def separation(group: NDArray[np.float64], others: NDArray[np.float64]) -> Separation | None:
    """None where a group is empty. The interval takes the members for independent."""
    if not len(group) or not len(others):
        return None
    above = placements(group, others)
    below = 1 - placements(others, group)
    auc = float(above.mean())
    variance = sum(float(part.var(ddof=1)) / len(part) for part in (above, below) if len(part) > 1)
    reach = NORMAL * math.sqrt(variance)
    return Separation(auc, max(0.0, auc - reach), min(1.0, auc + reach))


def placements(group: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each member, the share of the others that lie below it; those level with it count half."""
    order = np.sort(others)
    below, level = np.searchsorted(order, group, "left"), np.searchsorted(order, group, "right")
    return np.asarray((below + level) / (2 * len(others)))
