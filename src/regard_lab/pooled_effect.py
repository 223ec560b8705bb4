"""One effect from several: a random-effects mean of differences, with Hartung and Knapp's interval.

DerSimonian & Laird (1986) estimate the variance between comparisons from Cochran's Q; the interval is that of Hartung & Knapp
(2001) and Sidik & Jonkman (2002), Student's t with k − 1 degrees of freedom, without truncation. With one comparison the effect
is that comparison's mean, with its own interval over seeds. Comparisons that share runs (several baselines against one method)
are not independent, which makes the interval too narrow to an unknown degree; the page says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from regard.faithfulness.intervals import CONFIDENCE

EQUIVALENCE = 0.90  # an interval inside of the margins: two one-sided tests at 5 %


class Effect(NamedTuple):
    """The mean and variance of one comparison's differences over seeds."""

    mean: float
    variance: float  # of the mean: squared standard deviation / number of seeds
    freedom: float  # degrees of freedom of the variance


class Pooled(NamedTuple):
    comparisons: int
    mean: float
    error: float  # standard error
    freedom: float
    between: float  # standard deviation between comparisons

    def half(self, confidence: float = CONFIDENCE) -> float:
        """Half of the interval."""
        from scipy.special import stdtrit  # type: ignore[import-untyped]

        return float(stdtrit(self.freedom, (1 + confidence) / 2)) * self.error

    @property
    def low(self) -> float:
        return self.mean - self.half()

    @property
    def high(self) -> float:
        return self.mean + self.half()

    def is_equivalent(self, margin: float) -> bool:
        """Two one-sided tests at 5 %: the 90 % interval lies within ± margin."""
        return margin > 0 and abs(self.mean) + self.half(EQUIVALENCE) < margin

    def is_below(self, margin: float) -> bool:
        """One one-sided test at 5 %: the effect is smaller than the margin."""
        return self.mean + self.half(EQUIVALENCE) < margin


def pool(effects: Sequence[Effect]) -> Pooled | None:
    """None without effects that vary: an effect without variance would have all of the weight."""
    varying = [effect for effect in effects if effect.variance > 0]
    if not varying:
        return None
    if len(varying) == 1:
        (only,) = varying
        return Pooled(1, only.mean, math.sqrt(only.variance), only.freedom, 0.0)
    k = len(varying)
    fixed = [1 / effect.variance for effect in varying]
    centre = weighted_mean(varying, fixed)
    q = math.fsum(weight * (effect.mean - centre) ** 2 for weight, effect in zip(fixed, varying, strict=True))
    total = math.fsum(fixed)
    scale = total - math.fsum(weight**2 for weight in fixed) / total
    between = max(0.0, (q - (k - 1)) / scale)
    weights = [1 / (effect.variance + between) for effect in varying]
    mean = weighted_mean(varying, weights)
    squares = math.fsum(weight * (effect.mean - mean) ** 2 for weight, effect in zip(weights, varying, strict=True))
    return Pooled(k, mean, math.sqrt(squares / ((k - 1) * math.fsum(weights))), k - 1, math.sqrt(between))


def weighted_mean(effects: Sequence[Effect], weights: Sequence[float]) -> float:
    products = (weight * effect.mean for weight, effect in zip(weights, effects, strict=True))
    return math.fsum(products) / math.fsum(weights)
