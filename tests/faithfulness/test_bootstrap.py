from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from regard.errors import InputError
from regard.faithfulness.intervals import difference, differences, holm, interval, intervals, resampled, sign_flip_p


def test_intervals_are_close_to_normal_intervals() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, 400)
    results = interval(values)
    half = 1.96 * values.std(ddof=1) / math.sqrt(400)
    assert results.n == 400
    assert results.mean == pytest.approx(values.mean())
    assert results.low == pytest.approx(values.mean() - half, abs=0.03)
    assert results.high == pytest.approx(values.mean() + half, abs=0.03)


def test_intervals_have_about_the_nominal_coverage() -> None:
    rng = np.random.default_rng(1)
    results = [interval((rng.random(80) < 0.3).astype(float), draws=400) for _ in range(300)]
    assert 0.9 <= np.mean([each.low <= 0.3 <= each.high for each in results]) <= 0.985


def test_binary_values_have_an_interval_even_if_all_are_equal() -> None:
    assert interval(np.ones(100)) == pytest.approx((100, 1.0, 100 / (100 + 1.96**2), 1.0), abs=1e-4)
    assert interval(np.array([0.0, 0.0, 1.0, math.nan])).n == 3


def test_a_difference_of_binary_values_has_an_interval_even_if_all_are_equal() -> None:
    """Half a text is added to each of the four cases: 102 texts, half a text in favour of either side."""
    same = difference(np.ones(100), np.ones(100))
    assert (same.n, same.mean) == (100, 0.0)
    assert (same.low, same.high) == pytest.approx((-1.96 / 102, 1.96 / 102), abs=1e-5)
    apart = difference(np.ones(100), np.zeros(100))
    assert apart.low < apart.mean == apart.high == 1.0
    fractions = difference(np.full(100, 0.5), np.full(100, 0.5))
    assert (fractions.low, fractions.high) == (0.0, 0.0), "these are not binary"
    alone = difference(np.ones(1), np.zeros(1))
    assert math.isnan(alone.low)
    assert math.isnan(difference(np.ones(9), np.zeros(9), draws=0).low)


def test_intervals_of_binary_differences_have_about_the_nominal_coverage() -> None:
    """Only the first of two judges is right on 10 % of the texts, only the second on 2 %."""
    rng = np.random.default_rng(1)
    means = rng.choice(4, (300, 40), p=[0.1, 0.02, 0.3, 0.58])
    results = [difference(np.isin(each, (0, 2)) * 1.0, np.isin(each, (1, 2)) * 1.0, draws=1) for each in means]
    assert 0.92 <= np.mean([each.low <= 0.08 <= each.high for each in results]) <= 0.985


def test_the_same_seed_gives_the_same_interval_and_all_columns_share_resamples() -> None:
    values = np.random.default_rng(2).random((50, 2))
    assert intervals(values, seed=4) == intervals(values, seed=4)
    assert intervals(values, seed=4) != intervals(values, seed=5)
    assert intervals(values, seed=4)[1] == pytest.approx(interval(values[:, 1], seed=4))
    means = resampled(np.stack([values[:, 0], 2 * values[:, 0]], axis=1), 100, 0)
    assert means[:, 1] == pytest.approx(2 * means[:, 0])


def test_draws_in_chunks_are_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.faithfulness.intervals.HELD", 120)  # 50 texts: two draws at a time
    means = resampled(np.arange(50.0)[:, None], 101, 0)
    assert means.shape == (101, 1)
    assert means.mean() == pytest.approx(24.5, abs=1.0)


def test_few_texts() -> None:
    assert interval(np.array([]))[0] == 0
    assert all(map(math.isnan, interval(np.array([]))[1:]))
    one = interval(np.array([2.0]))
    assert one[:2] == (1, 2.0)
    assert math.isnan(one.low)
    assert interval(np.array([2.0, 2.0, math.nan])) == (2, 2.0, 2.0, 2.0)
    assert math.isnan(difference(np.array([math.nan]), np.array([1.0])).p)


def test_few_pairs_are_tested_with_all_signs() -> None:
    # 1 + 2 + 3 = 6 is reached by all plus and all minus only: 2 of 8
    assert sign_flip_p(np.array([[1.0], [2.0], [3.0]])).tolist() == [0.25]
    assert sign_flip_p(np.array([[1.0], [2.0], [-3.0]])).tolist() == [1.0]
    assert sign_flip_p(np.zeros((4, 1))).tolist() == [1.0]


def test_exact_p_values_equal_scipys() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(0.4, 1, 10), rng.normal(0, 1, 10)
    theirs = permutation_test((one, other), lambda a, b: (a - b).mean(), permutation_type="samples", n_resamples=np.inf)
    assert difference(one, other).p == pytest.approx(theirs.pvalue)


def test_many_pairs_are_tested_with_random_signs() -> None:
    rng = np.random.default_rng(4)
    same = [difference(rng.random(60), rng.random(60)).p for _ in range(200)]
    assert 0.01 <= np.mean([p < 0.05 for p in same]) <= 0.1
    apart = difference(rng.normal(1.0, 1, 60), rng.normal(0, 1, 60))
    assert apart.p < 0.01
    assert 0 < apart.low < apart.mean < apart.high
    assert difference(np.ones(60), np.zeros(60)).p == pytest.approx(1 / 10_000)  # never below 1 / (draws + 1)


def test_pairing_narrows_the_interval() -> None:
    rng = np.random.default_rng(5)
    difficulty = rng.normal(0, 5, 200)  # of each text, the same for both
    one, other = difficulty + rng.normal(0.5, 0.5, 200), difficulty + rng.normal(0, 0.5, 200)
    results = difference(one, other)
    assert results.high - results.low < (interval(one).high - interval(one).low) / 4
    back = difference(other, one)
    assert (back.mean, back.p) == (pytest.approx(-results.mean), results.p)


def test_texts_with_a_value_on_one_side_only_are_left_out() -> None:
    one, other = np.array([1.0, math.nan, 3.0, 5.0]), np.array([0.0, 1.0, math.nan, 2.0])
    assert difference(one, other)[:2] == (2, 2.0)


def test_different_shapes_are_refused() -> None:
    with pytest.raises(InputError, match=r"\(3, 1\) and \(2, 1\)"):
        differences(np.zeros((3, 1)), np.zeros((2, 1)))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, math.nan, 0.03]) == pytest.approx([0.03, 0.06, math.nan, 0.06], nan_ok=True)
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_lies_between_p_and_bonferroni(values: list[float]) -> None:
    corrected = holm(values)
    assert all(p <= q <= min(1.0, len(values) * p) + 1e-12 for p, q in zip(values, corrected, strict=True))
    order = np.argsort(values, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()
