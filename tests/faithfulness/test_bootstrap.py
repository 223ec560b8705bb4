from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from regard.errors import InputError
from regard.faithfulness.intervals import difference, differences, holm, interval, intervals, permuted, resampled


def test_intervals_are_near_those_of_the_normal_distribution() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, 400)
    found = interval(values)
    half = 1.96 * values.std(ddof=1) / math.sqrt(400)
    assert found.n == 400
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - half, abs=0.03)
    assert found.high == pytest.approx(values.mean() + half, abs=0.03)


def test_intervals_cover_about_as_often_as_they_say() -> None:
    chance = np.random.default_rng(1)
    found = [interval((chance.random(80) < 0.3).astype(float), draws=400) for _ in range(300)]
    assert 0.9 <= np.mean([each.low <= 0.3 <= each.high for each in found]) <= 0.985


def test_shares_have_an_interval_even_where_all_texts_agree() -> None:
    assert interval(np.ones(100)) == pytest.approx((100, 1.0, 100 / (100 + 1.96**2), 1.0), abs=1e-4)
    assert interval(np.array([0.0, 0.0, 1.0, math.nan])).n == 3


def test_a_difference_of_shares_is_not_certain_where_all_texts_agree() -> None:
    """Half a text more for each of right and wrong, twice: 102 texts, of which half a one speaks for either side."""
    same = difference(np.ones(100), np.ones(100))
    assert (same.n, same.mean) == (100, 0.0)
    assert (same.low, same.high) == pytest.approx((-1.96 / 102, 1.96 / 102), abs=1e-5)
    apart = difference(np.ones(100), np.zeros(100))
    assert apart.low < apart.mean == apart.high == 1.0
    fractions = difference(np.full(100, 0.5), np.full(100, 0.5))
    assert (fractions.low, fractions.high) == (0.0, 0.0), "these are no shares"
    alone = difference(np.ones(1), np.zeros(1))
    assert math.isnan(alone.low)
    assert math.isnan(difference(np.ones(9), np.zeros(9), draws=0).low)


def test_differences_of_shares_cover_about_as_often_as_they_say() -> None:
    """One of two judges is right where the other is not in 10 and in 2 of 100 texts."""
    chance = np.random.default_rng(1)
    drawn = chance.choice(4, (300, 40), p=[0.1, 0.02, 0.3, 0.58])
    found = [difference(np.isin(each, (0, 2)) * 1.0, np.isin(each, (1, 2)) * 1.0, draws=1) for each in drawn]
    assert 0.92 <= np.mean([each.low <= 0.08 <= each.high for each in found]) <= 0.985


def test_the_same_seed_gives_the_same_interval_and_columns_are_drawn_alike() -> None:
    values = np.random.default_rng(2).random((50, 2))
    assert intervals(values, seed=4) == intervals(values, seed=4)
    assert intervals(values, seed=4) != intervals(values, seed=5)
    assert intervals(values, seed=4)[1] == pytest.approx(interval(values[:, 1], seed=4))
    drawn = resampled(np.stack([values[:, 0], 2 * values[:, 0]], axis=1), 100, 0)
    assert drawn[:, 1] == pytest.approx(2 * drawn[:, 0])


def test_draws_in_parts_are_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.faithfulness.intervals.HELD", 120)  # 50 texts: two draws at a time
    drawn = resampled(np.arange(50.0)[:, None], 101, 0)
    assert drawn.shape == (101, 1)
    assert drawn.mean() == pytest.approx(24.5, abs=1.0)


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
    assert permuted(np.array([[1.0], [2.0], [3.0]])).tolist() == [0.25]
    assert permuted(np.array([[1.0], [2.0], [-3.0]])).tolist() == [1.0]
    assert permuted(np.zeros((4, 1))).tolist() == [1.0]


def test_all_signs_are_scipys() -> None:
    chance = np.random.default_rng(3)
    one, other = chance.normal(0.4, 1, 10), chance.normal(0, 1, 10)
    their = permutation_test((one, other), lambda a, b: (a - b).mean(), permutation_type="samples", n_resamples=np.inf)
    assert difference(one, other).p == pytest.approx(their.pvalue)


def test_many_pairs_are_tested_with_drawn_signs() -> None:
    chance = np.random.default_rng(4)
    same = [difference(chance.random(60), chance.random(60)).p for _ in range(200)]
    assert 0.01 <= np.mean([p < 0.05 for p in same]) <= 0.1
    apart = difference(chance.normal(1.0, 1, 60), chance.normal(0, 1, 60))
    assert apart.p < 0.01
    assert 0 < apart.low < apart.mean < apart.high
    assert difference(np.ones(60), np.zeros(60)).p == pytest.approx(1 / 10_000)  # never less than one in all draws


def test_pairs_narrow_the_interval() -> None:
    chance = np.random.default_rng(5)
    hard = chance.normal(0, 5, 200)  # how hard a text is, which both share
    one, other = hard + chance.normal(0.5, 0.5, 200), hard + chance.normal(0, 0.5, 200)
    found = difference(one, other)
    assert found.high - found.low < (interval(one).high - interval(one).low) / 4
    back = difference(other, one)
    assert (back.mean, back.p) == (pytest.approx(-found.mean), found.p)


def test_texts_that_only_one_has_are_left_out() -> None:
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
def test_holm_keeps_the_order_and_lies_between_the_p_and_bonferronis(values: list[float]) -> None:
    corrected = holm(values)
    assert all(p <= q <= min(1.0, len(values) * p) + 1e-12 for p, q in zip(values, corrected, strict=True))
    order = np.argsort(values, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()
