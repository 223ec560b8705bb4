"""Attention over units with given scores and polarities: by hand, against softmax, and with huge scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.kernels.attention import attend


def answer(
    texts: Sequence[Sequence[int]], scores: Sequence[float], polarity: Sequence[Sequence[float]], bias: Sequence[float]
) -> tuple[NDArray[np.float32], list[list[float]]]:
    """Logits, and each text's weights."""
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    ids = np.array([unit for text in texts for unit in text], dtype=np.int32)
    logits, weights = np.empty((len(texts), len(bias)), dtype=np.float32), np.empty(len(ids), dtype=np.float32)
    by_member = (np.array(values, dtype=np.float32)[:, None] for values in (scores, polarity))
    tables = (*by_member, np.array(bias, dtype=np.float32))
    attend(ids, offsets, *tables, logits, weights)
    return logits, [weights[low:high].tolist() for low, high in pairwise(offsets)]


def test_attention_by_hand() -> None:
    """Scores 0, log 3 and log 3: shares 1/4 and 3/4 of two units; a repeated unit gets its share each time."""
    scores, polarity, bias = [0.0, math.log(3), math.log(3)], [[4.0, -4.0], [8.0, 0.0], [0.0, 16.0]], [1.0, 10.0]
    logits, weights = answer([[0, 1], [0, 1, 1, 2], [2], []], scores, polarity, bias)
    assert weights[0] == pytest.approx([1 / 4, 3 / 4])
    assert weights[1] == pytest.approx([1 / 10, 3 / 10, 3 / 10, 3 / 10])
    assert weights[2:] == [[1.0], []]
    assert logits[0] == pytest.approx([1 / 4 * 4 + 3 / 4 * 8 + 1, 1 / 4 * -4 + 10])
    assert logits[1] == pytest.approx([(4 + 2 * 3 * 8) / 10 + 1, (-4 + 3 * 16) / 10 + 10])
    assert logits[2] == pytest.approx([1, 16 + 10])
    assert logits[3] == pytest.approx([1, 10]), "a text without units gets only the bias"


@given(st.lists(st.lists(st.integers(0, 9), max_size=20), max_size=5), st.integers(1, 4), st.integers(0, 100))
def test_weights_are_the_softmax_of_scores(texts: list[list[int]], outputs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, polarity, bias = 5 * rng.normal(size=10), rng.normal(size=(10, outputs)), rng.normal(size=outputs)
    logits, weights = answer(texts, scores.tolist(), polarity.tolist(), bias.tolist())
    for row, text in enumerate(texts):
        expected = torch.softmax(torch.tensor(scores[text]), 0).numpy()
        np.testing.assert_allclose(weights[row], expected, rtol=1e-4, atol=1e-7)
        np.testing.assert_allclose(logits[row], expected @ polarity[text] + bias, rtol=1e-4, atol=1e-4)


def test_huge_scores_stay_finite() -> None:
    logits, weights = answer([[0, 1], [1, 2], [0, 3]], [1e38, -1e38, -3e38, 1e38], [[1.0], [2.0], [3.0], [4.0]], [0.0])
    assert weights == [[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]]
    assert logits[:, 0].tolist() == [1.0, 2.0, 2.5]


def test_weights_are_optional() -> None:
    logits, empty = np.empty((1, 1), dtype=np.float32), np.empty(0, dtype=np.float32)
    ids, offsets = np.array([0, 1], dtype=np.int32), np.array([0, 2])
    attend(
        ids,
        offsets,
        np.zeros((2, 1), np.float32),
        np.array([[[1]], [[3]]], np.float32),
        np.ones(1, np.float32),
        logits,
        empty,
    )
    assert logits.tolist() == [[(1 + 3) / 2 + 1]]


def test_members_attend_separately() -> None:
    """Two members, by hand: the first sees both units alike, the second three times as much of the last one."""
    scores = np.array([[0, 0], [0, math.log(3)]], dtype=np.float32)
    polarity = np.array([[[4], [8]], [[2], [0]]], dtype=np.float32)
    logits, weights = np.empty((1, 1), dtype=np.float32), np.empty(2, dtype=np.float32)
    attend(np.array([0, 1], np.int32), np.array([0, 2]), scores, polarity, np.ones(1, np.float32), logits, weights)
    assert logits[0, 0] == pytest.approx((4 + 2) / 2 + 8 / 4 + 1)
    assert weights.tolist() == pytest.approx([(1 / 2 + 1 / 4) / 2, (1 / 2 + 3 / 4) / 2])
