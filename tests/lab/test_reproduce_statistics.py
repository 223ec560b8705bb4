"""Intervals, paired tests and Holm's correction, against hand arithmetic and an independent library."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from regard_lab.statistics import holm, mean_interval, paired, signed_rank, t_test


def test_the_interval_of_a_mean() -> None:
    """80, 81 and 82: the mean is 81, the deviation 1, and t of two degrees of freedom 4.303: 4.303 / √3 = 2.484."""
    result = mean_interval([80, 81, 82])
    assert result is not None
    assert (result.n, result.mean) == (3, 81)
    assert result.half == pytest.approx(4.30265 / math.sqrt(3), abs=1e-5)
    assert (result.low, result.high) == (pytest.approx(78.516, abs=1e-3), pytest.approx(83.484, abs=1e-3))


def test_one_value_has_no_interval_and_no_values_no_mean() -> None:
    assert mean_interval([]) is None
    result = mean_interval([3.0])
    assert result == (1, 3.0, None)
    assert result.low == result.high == 3.0


def test_only_seeds_that_both_have_are_compared() -> None:
    result = paired({0: 3.0, 1: 5.0, 2: 9.0, 7: 100.0}, {0: 1.0, 1: 2.0, 2: 5.0, 8: -100.0})
    assert result is not None
    assert result.difference.n == 3
    assert result.difference.mean == pytest.approx((2 + 3 + 4) / 3)
    assert result.p == pytest.approx(stats.ttest_rel([3, 5, 9], [1, 2, 5]).pvalue, rel=1e-9)
    assert paired({0: 1.0}, {1: 1.0}) is None


def test_a_t_test_needs_two_pairs_and_variance() -> None:
    assert t_test([1.0]) is None
    assert t_test([0.0, 0.0]) == 1.0
    assert t_test([0.1, 0.1, 0.1]) is None  # nothing to test against: two seeds that agree would be a certainty
    assert t_test([-1.0, 1.0]) == pytest.approx(1.0)
    assert t_test([1.0, 2.0, 3.0]) == t_test([-1.0, -2.0, -3.0])


def test_wilcoxon_needs_at_least_six_pairs() -> None:
    """All six above 0: of 2⁶ signs two are as extreme, 2/64."""
    assert signed_rank([1, 2, 3, 4, 5]) is None
    assert signed_rank([1, 2, 3, 4, 5, 6]) == pytest.approx(2 / 64)
    assert signed_rank([0, 1, 2, 3, 4, 5]) is None


def test_wilcoxon_is_exact_with_ties_too() -> None:
    """The normal approximation gives 0.014, 0.10 and 0.071 here."""
    assert signed_rank([1, 1, 1, 1, 1, 1]) == pytest.approx(2 / 64)
    assert signed_rank([1, 1, 1, 1, 1, -1]) == pytest.approx(
        2 * (1 + 6) / 64
    )  # as far off: none or one of the other sign
    # ranks 2, 2, 4.5, 4.5, 6 and −2: of 21 as little as 2, or nothing, is of one sign in 3 + 1 cases, twice
    assert signed_rank([1, 1, 2, 2, 3, -1]) == pytest.approx(2 * 4 / 64)
    assert signed_rank([0, 1, 1, 1, 1, 1, 1]) == pytest.approx(2 / 64)


def test_holm_multiplies_the_smallest_most_and_is_monotone() -> None:
    """0.01·3, then 0.02·2 = 0.04, then 0.03·1, which may not be below 0.04."""
    assert holm([0.03, 0.01, None, 0.02]) == [pytest.approx(0.04), pytest.approx(0.03), None, pytest.approx(0.04)]
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_ties_up_to_rounding_are_ties() -> None:
    """Of 100 texts 0.81 − 0.80 and 0.41 − 0.40 are one text each, and differ in the 17th digit."""
    one, other = [0.81, 0.41, 0.62, 0.53, 0.44, 0.35, 0.2], [0.8, 0.4, 0.6, 0.5, 0.4, 0.3, 0.3]
    differences = [a - b for a, b in zip(one, other, strict=True)]
    assert differences[0] != differences[1]
    result = paired(dict(enumerate(one)), dict(enumerate(other)))
    assert result is not None
    assert result.wilcoxon == pytest.approx(
        stats.wilcoxon([1, 1, 2, 3, 4, 5, -10], method=stats.PermutationMethod()).pvalue
    )
    assert (
        signed_rank([0.1 + 0.2 - 0.3, 1, 2, 3, 4, 5]) is None
    )  # the rounding error of 0.1 + 0.2 − 0.3 is not a difference
