"""The interval of a share: so many of so many said yes (Wilson 1927)."""

from __future__ import annotations

import math

NORMAL = 1.959963984540054  # of a normal distribution: 95 % lie as many deviations from the mean, or nearer


def wilson(share: float, size: int) -> tuple[float, float]:
    """It keeps within 0 and 1, and holds the share itself."""
    z2 = NORMAL**2
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = NORMAL * math.sqrt(share * (1 - share) / size + z2 / (4 * size**2)) / (1 + z2 / size)
    # by rounding, the end at 0 or 1 might lie inside
    return min(max(0.0, middle - half), share), max(min(1.0, middle + half), share)
