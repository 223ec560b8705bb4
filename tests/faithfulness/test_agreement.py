from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import scored
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau

from regard.errors import InputError
from regard.faithfulness import agreement as agreement_module
from regard.faithfulness.agreement import agreement, kendall, share_distances, shares
from regard.faithfulness.distributions import jensen_shannon, total_variation


def test_by_hand() -> None:
    one, other = scored("a b c", [0.5, 0.25, 0.25]), scored("a b c", [0.25, 0.5, 0.25])
    result = agreement([one], [other], [1, 2, 9])
    # pairs: ab against, ac only one side untied, bc only the other: −1 / √(2·2)
    assert result.tau.tolist() == [-0.5]
    assert result.distance.tolist() == [0.25]
    middle = 0.375
    part = 0.5 * math.log(0.5 / middle) + 0.25 * math.log(0.25 / middle)
    assert result.divergence.tolist() == [pytest.approx(part)]
    assert result.overlap.values.tolist() == [[0, 1, 1]]
    assert result.random_overlap.values.tolist() == [[1 / 3, 2 / 3, 1]]


@given(st.lists(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=9), max_size=6))
def test_kendall_equals_scipys_and_is_nan_where_undefined(texts: list[list[tuple[int, int]]]) -> None:
    one = [np.array([a for a, _ in text], dtype=float) for text in texts]
    other = [np.array([b for _, b in text], dtype=float) for text in texts]
    for tau, a, b in zip(kendall(one, other), one, other, strict=True):
        if len(set(a)) < 2 or len(set(b)) < 2:
            assert np.isnan(tau)
        else:
            assert tau == pytest.approx(kendalltau(a, b).statistic)


def test_sorting_and_comparing_give_the_same_tau(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    one, other = ([np.round(rng.random(40), 1) for _ in range(5)] + [np.ones(40)] for _ in range(2))
    compared = kendall(one, other)
    monkeypatch.setattr(agreement_module, "LONG", 10)
    assert kendall(one, other) == pytest.approx(compared, nan_ok=True)
    assert np.isnan(compared[5])


def test_chunks_of_pairs_and_texts_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    one, other = ([rng.random(length) for length in (4, 0, 7, 4, 4, 1, 7)] for _ in range(2))
    whole = kendall(one, other), *share_distances(one, other)
    monkeypatch.setattr(agreement_module, "PAIRS", 16)
    monkeypatch.setattr(agreement_module, "TEXTS", 2)
    for before, after in zip(whole, (kendall(one, other), *share_distances(one, other)), strict=True):
        assert after == pytest.approx(before, nan_ok=True)


def test_distances_equal_scipys() -> None:
    rng = np.random.default_rng(2)
    p, q = (side / side.sum(1, keepdims=True) for side in (rng.random((20, 6)), rng.random((20, 6))))
    p[0], q[0] = [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q, axis=1) ** 2)
    assert jensen_shannon(p, q)[0] == pytest.approx(math.log(2))
    assert total_variation(p, q)[0] == 1
    assert jensen_shannon(p, p) == pytest.approx(np.zeros(20), abs=1e-15)


def test_shares_ignore_signs_and_are_equal_if_all_scores_are_zero() -> None:
    padded = shares([np.array([-1.0, 3.0]), np.zeros(3), np.array([]), np.array([1e-310, 3e-310])])
    assert padded.tolist()[:3] == [[0.25, 0.75, 0], [pytest.approx(1 / 3)] * 3, [0, 0, 0]]
    assert padded[3] == pytest.approx([0.25, 0.75, 0])
    assert shares([np.array([1e308, 1e308, 1e308])])[0] == pytest.approx([1 / 3] * 3)


def test_texts_without_words_have_no_value_and_one_word_agrees() -> None:
    result = agreement([scored("", []), scored("a", [0.3])], [scored("", []), scored("a", [0.9])], [1, 5])
    assert np.isnan(result.tau).all()
    assert np.isnan(result.distance[0])
    assert result.distance[1] == result.divergence[1] == 0
    assert np.isnan(result.overlap.values[0]).all()
    assert result.overlap.values[1].tolist() == result.random_overlap.values[1].tolist() == [1, 1]


def test_different_words_are_refused() -> None:
    one = scored("a b", [1.0, 2.0])
    for other in (scored("a c", [1.0, 2.0]), one._replace(spans=[(0, 1), (1, 3)])):
        with pytest.raises(InputError, match="other, text 1: expected the same text and words as in one"):
            agreement([one], [other])
    with pytest.raises(InputError, match="other: expected 1 texts as in one, got 2"):
        agreement([one], [one, one])


pairs = st.lists(st.tuples(st.integers(-8, 8), st.integers(-8, 8)), min_size=2, max_size=9)


@given(pairs, st.integers(-50, 50), st.integers(1, 5))
def test_invariants(words: list[tuple[int, int]], offset: int, factor: int) -> None:
    text = " ".join("w" * len(words))
    one = scored(text, [float(a) for a, _ in words])
    other = scored(text, [float(b) for _, b in words])
    result, back = agreement([one], [other]), agreement([other], [one])
    assert result.tau == pytest.approx(back.tau, nan_ok=True)
    assert result.divergence == pytest.approx(back.divergence)
    assert -1 - 1e-12 <= np.nan_to_num(result.tau)[0] <= 1 + 1e-12
    assert 0 <= result.divergence[0] <= math.log(2) + 1e-12
    assert result.divergence[0] <= result.distance[0] * math.log(2) + 1e-12  # Lin 1991
    moved = scored(text, [float(factor * a + offset) for a, _ in words])
    again = agreement([moved], [other])
    assert again.tau == pytest.approx(result.tau, nan_ok=True)  # neither an offset nor a factor changes the order
    assert again.overlap.values.tolist() == result.overlap.values.tolist()
    scaled = agreement([scored(text, [float(factor * a) for a, _ in words])], [other])
    assert scaled.distance == pytest.approx(result.distance)  # a factor does not change the shares
