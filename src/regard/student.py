"""Quantiles of Student's t distribution, without SciPy.

The distribution function is an incomplete beta function, computed by its continued fraction (Press et al., Numerical Recipes,
§6.4) with the modified Lentz method; the quantile is found by bisection.
"""

from __future__ import annotations

import math
from functools import cache

TERMS = 10_000  # of the continued fraction; some hundred are enough for 10⁶ degrees of freedom
PRECISION = 1e-16
TINY = 1e-300


@cache
def t_quantile(degrees: float, probability: float) -> float:
    """The t below which a share of `probability`, from 0.5 to below 1, of the distribution lies."""
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < probability:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        if t_probability(middle, degrees) < probability:
            low = middle
        else:
            high = middle
    return high


def t_probability(t: float, degrees: float) -> float:
    """The share of the distribution below t ≥ 0."""
    return 1 - incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularised, I_x(a, b)."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):  # where the fraction of the complement converges faster
        return 1 - incomplete_beta(b, a, 1 - x)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logarithm) / (a * continued_fraction(a, b, x))


def continued_fraction(a: float, b: float, x: float) -> float:
    """1 + d₁ / (1 + d₂ / (1 + …)) of the incomplete beta function."""
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, TERMS):
        m = term // 2
        if term % 2:
            numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + numerator * d or TINY)
        c = 1 + numerator / c or TINY
        value *= c * d
        if abs(c * d - 1) < PRECISION:
            break
    return value
