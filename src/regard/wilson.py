"""The interval of a share: so many of so many said yes (Wilson 1927)."""

from __future__ import annotations

import math

CONFIDENCE = 1.959964  # of a normal distribution, 95 %


def wilson(share: float, size: int) -> tuple[float, float]:
    """It keeps within 0 and 1, and holds the share itself."""
    z2 = CONFIDENCE**2
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = CONFIDENCE * math.sqrt(share * (1 - share) / size + z2 / (4 * size**2)) / (1 + z2 / size)
    # by rounding, the end at 0 or 1 might lie inside
    return min(max(0.0, middle - half), share), max(min(1.0, middle + half), share)
