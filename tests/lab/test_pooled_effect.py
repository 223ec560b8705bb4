"""The pooled effect against an independent calculation, and equivalence by two one-sided tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from regard_lab.pooled_effect import Effect, pool


def test_against_a_textbook_example() -> None:
    """Borenstein et al., Introduction to Meta-Analysis (2009), Table 14.1: Hedges' g of six studies; τ² = 0.0372, mean 0.3582."""
    pooled = pool(
        [
            Effect(mean, variance, 30)
            for mean, variance in zip(
                (0.0945, 0.2774, 0.3665, 0.6644, 0.4618, 0.1852),
                (0.0329, 0.0307, 0.0499, 0.0105, 0.0426, 0.0234),
                strict=True,
            )
        ]
    )
    assert pooled is not None
    assert pooled.between**2 == pytest.approx(0.0372, abs=0.0005)
    assert pooled.mean == pytest.approx(0.3582, abs=0.0005)


@pytest.mark.parametrize("seed", range(5))
def test_against_matrices_and_scipy(seed: int) -> None:
    """The same with matrices: Q as a quadratic form, and Hartung and Knapp's interval as weighted least squares."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 12))
    means, variances = rng.normal(0.2, 1, size), rng.uniform(0.01, 1, size)
    pooled = pool([Effect(float(mean), float(variance), 4) for mean, variance in zip(means, variances, strict=True)])
    assert pooled is not None

    one, fixed = np.ones((size, 1)), np.diag(1 / variances)
    projection = fixed - fixed @ one @ np.linalg.inv(one.T @ fixed @ one) @ one.T @ fixed
    between = max(0.0, (means @ projection @ means - (size - 1)) / np.trace(projection))
    weights = np.diag(1 / (variances + between))
    inverse = np.linalg.inv(one.T @ weights @ one)
    centre = (inverse @ one.T @ weights @ means).item()
    rest = means - centre
    error = math.sqrt((rest @ weights @ rest / (size - 1) * inverse).item())
    low, high = stats.t.interval(0.95, size - 1, centre, error)
    assert (pooled.mean, pooled.between) == pytest.approx((centre, math.sqrt(between)))
    assert (pooled.low, pooled.high) == pytest.approx((low, high))


def test_one_comparison_keeps_its_own_interval() -> None:
    values = [0.4, 0.1, 0.3, 0.2]
    pooled = pool([Effect(float(np.mean(values)), float(np.var(values, ddof=1) / 4), 3)])
    assert pooled is not None
    assert (pooled.low, pooled.high) == pytest.approx(stats.ttest_1samp(values, 0).confidence_interval(0.95))


def test_comparisons_without_variance_are_left_out() -> None:
    assert pool([]) is None
    assert pool([Effect(0.0, 0.0, 4)]) is None
    both = pool([Effect(0.0, 0.0, 4), Effect(0.5, 0.1, 4)])
    assert both is not None
    assert (both.comparisons, both.mean) == (1, 0.5)


@pytest.mark.parametrize("margin", [0.05, 0.3, 0.5, 0.8, 2.0])
def test_equivalence_is_two_one_sided_tests(margin: float) -> None:
    values = np.array([0.3, 0.1, -0.2, 0.25, 0.4])
    pooled = pool([Effect(float(values.mean()), float(values.var(ddof=1) / 5), 4)])
    assert pooled is not None
    above = stats.ttest_1samp(values, -margin, alternative="greater").pvalue
    below = stats.ttest_1samp(values, margin, alternative="less").pvalue
    assert pooled.is_equivalent(margin) is bool(max(above, below) < 0.05)
    assert pooled.is_below(margin) is bool(below < 0.05)


def test_without_a_margin_nothing_is_equivalent() -> None:
    pooled = pool([Effect(0.0, 1e-9, 4)])
    assert pooled is not None
    assert not pooled.is_equivalent(0.0)
