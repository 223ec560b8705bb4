"""Wilson score interval of a proportion (Wilson 1927)."""

from __future__ import annotations

import math

Z_95 = 1.959963984540054  # 97.5th percentile of the standard normal distribution


def wilson_interval(share: float, size: int) -> tuple[float, float]:
    """95 % interval of a share of `size` trials; it stays within [0, 1] and contains the share."""
    z2 = Z_95**2
    middle = (share + z2 / (2 * size)) / (1 + z2 / size)
    half = Z_95 * math.sqrt(share * (1 - share) / size + z2 / (4 * size**2)) / (1 + z2 / size)
    # rounding could move an end at 0 or 1 past the share
    return min(max(0.0, middle - half), share), max(min(1.0, middle + half), share)
