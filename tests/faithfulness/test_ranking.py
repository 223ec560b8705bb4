from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import scored

from regard.errors import InputError
from regard.faithfulness.random_choice import backwards, leading, random_rankings
from regard.faithfulness.ranking import SHARES, Cut, counts, cut_offs, ranking


def test_largest_first_and_ties_by_position() -> None:
    assert ranking([0.1, 0.5, 0.1, 0.5]).tolist() == [1, 3, 0, 2]
    assert ranking([-3.0, -1.0, 0.0]).tolist() == [2, 1, 0]
    assert ranking([]).tolist() == []


def test_counts_are_limited_by_the_number_of_words() -> None:
    assert counts([20, 3, 0], cut_offs([1, 5, Cut(0.5, True)])).tolist() == [[1, 5, 10], [1, 3, 2], [0, 0, 0]]


def test_a_share_is_rounded_up() -> None:
    assert [cut.words(20) for cut in SHARES] == [1, 1, 2, 4, 10]
    assert [cut.words(7) for cut in SHARES] == [1, 1, 1, 2, 4]
    assert Cut(0.07, True).words(100) == 7  # 0.07 × 100 is 7.000000000000001
    assert Cut(1.0, True).words(13) == 13


def test_cut_offs_as_text() -> None:
    assert [*map(str, (Cut(5), Cut(0.05, True), Cut(0.5, True)))] == ["5", "5 %", "50 %"]


@pytest.mark.parametrize(
    "cut",
    [
        -1,
        Cut(1.5),
        Cut(1.5, True),
        Cut(-0.1, True),
        Cut(float("nan")),
        Cut(float("inf")),
        "5",
        None,
        [1],
        Cut("5", True),
    ],  # type: ignore[arg-type]
)
def test_invalid_cut_offs_are_refused(cut: Any) -> None:
    expected = "shares from 0 to 1" if isinstance(cut, Cut) and cut.share else "whole numbers of words from 0"
    with pytest.raises(InputError, match=f"cuts: expected {expected}, got "):
        cut_offs([cut])


def test_no_cut_offs_are_refused() -> None:
    with pytest.raises(InputError, match=r"cuts: expected at least one number of words .* got none"):
        cut_offs([])
    with pytest.raises(InputError, match=r"cuts: expected a list .* got 5"):
        cut_offs(5)  # type: ignore[arg-type]


@given(st.lists(st.integers(-9, 9), max_size=12), st.integers(-99, 99), st.integers(1, 9))
def test_neither_offset_nor_factor_changes_a_ranking(scores: list[int], offset: int, factor: int) -> None:
    assert ranking([factor * score + offset for score in scores]).tolist() == ranking(scores).tolist()


def test_random_rankings_depend_on_text_and_seed_only() -> None:
    rankings = random_rankings("a b c d", 4, draws=6, seed=3)
    assert rankings.shape == (6, 4)
    assert all(sorted(row) == [0, 1, 2, 3] for row in rankings.tolist())
    assert rankings.tolist() == random_rankings("a b c d", 4, draws=6, seed=3).tolist()
    assert rankings.tolist() != random_rankings("a b c d", 4, draws=6, seed=4).tolist()
    assert rankings.tolist() != random_rankings("a b c e", 4, draws=6, seed=3).tolist()
    assert random_rankings("", 0, draws=2).shape == (2, 0)
    assert random_rankings("\ud800 x", 2, draws=2).shape == (2, 2)  # half a surrogate pair is accepted


def test_random_rankings_are_uniform() -> None:
    first = [row[0] for n in range(600) for row in random_rankings(f"text {n}", 3, draws=5)]
    assert all(900 < first.count(index) < 1100 for index in range(3))


def test_baselines_take_the_first_words_or_reverse_the_ranking() -> None:
    one = scored("a b c", [0.2, 0.5, 0.3], 1)
    assert ranking(leading([one])[0].scores).tolist() == [0, 1, 2]
    assert ranking(backwards([one])[0].scores).tolist() == [0, 2, 1]
    assert leading([one])[0].label == 1
