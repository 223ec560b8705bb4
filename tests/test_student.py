"""Quantiles of Student's t, compared with SciPy's and with values known in closed form."""

from __future__ import annotations

import math

import pytest
from scipy.special import stdtr, stdtrit

from regard.student import t_probability, t_quantile


@pytest.mark.parametrize("degrees", [1, 2, 3, 4.5, 10, 29, 100, 1000, 10**6])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.9, 0.975, 0.995, 0.99999])
def test_quantiles_equal_scipys(degrees: float, probability: float) -> None:
    assert t_quantile(degrees, probability) == pytest.approx(stdtrit(degrees, probability), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("degrees", [1, 2, 7, 60, 5000])
@pytest.mark.parametrize("t", [0.0, 0.1, 1.0, 2.5, 10.0])
def test_probabilities_equal_scipys(degrees: float, t: float) -> None:
    assert t_probability(t, degrees) == pytest.approx(stdtr(degrees, t), rel=1e-12)


def test_closed_forms() -> None:
    """With one degree of freedom it is Cauchy's distribution; with two, t = √2 (2p − 1) / √(1 − (2p − 1)²)."""
    assert t_quantile(1, 0.975) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-12)
    assert t_quantile(2, 0.975) == pytest.approx(math.sqrt(2) * 0.95 / math.sqrt(1 - 0.95**2), rel=1e-12)
