"""Average, maximum, last and attention on numbers that can be checked by eye."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from regard.errors import InputError
from regard.poolings import APLN, Attention, Average, Last, Maximum, NormUnit, Pooling

# two words and one padded position; an empty row
STATES = torch.tensor([[[1.0, 4.0], [3.0, 0.0], [9.0, 9.0]], [[9.0, 9.0], [9.0, 9.0], [9.0, 9.0]]])
MASK = torch.tensor([[True, True, False], [False, False, False]])


def test_average() -> None:
    pooled = Average()(STATES, MASK)
    assert pooled.vector.tolist() == [[2.0, 2.0], [0.0, 0.0]]
    assert pooled.weights.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]


def test_maximum_weights_are_shares_of_the_winning_elements() -> None:
    pooled = Maximum()(STATES, MASK)
    assert pooled.vector.tolist() == [[3.0, 4.0], [0.0, 0.0]]
    torch.testing.assert_close(pooled.weights, torch.tensor([[4 / 7, 3 / 7, 0.0], [0.0, 0.0, 0.0]]))


def test_maximum_below_zero_counts_wins() -> None:
    states = torch.tensor([[[-1.0, -2.0, -5.0], [-3.0, -1.0, -1.0]]])
    pooled = Maximum()(states, torch.tensor([[True, True]]))
    assert pooled.vector.tolist() == [[-1.0, -1.0, -1.0]]
    torch.testing.assert_close(pooled.weights, torch.tensor([[1 / 3, 2 / 3]]))


def test_last_takes_each_half_where_its_direction_ends() -> None:
    one, two = Last(1)(STATES, MASK), Last(2)(STATES, MASK)
    assert one.vector.tolist() == [[3.0, 0.0], [0.0, 0.0]]
    assert one.weights.tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    assert two.vector.tolist() == [[3.0, 4.0], [0.0, 0.0]]
    assert two.weights.tolist() == [[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]


def test_last_finds_the_ends_of_a_text_wherever_the_padding_is() -> None:
    states = torch.tensor([[[9.0, 9.0], [1.0, 4.0], [8.0, 8.0], [3.0, 0.0], [9.0, 9.0]]])
    pooled = Last(2)(states, torch.tensor([[False, True, True, True, False]]))
    assert pooled.vector.tolist() == [[3.0, 4.0]]
    assert pooled.weights.tolist() == [[0.0, 0.5, 0.0, 0.5, 0.0]]


@pytest.mark.parametrize("scale", [0.5, 1.0, 10.0])
def test_dot_attention_divides_scores_by_the_scale(scale: float) -> None:
    pooling = Attention(2, "dot", scale=scale)
    with torch.no_grad():
        pooling.scorer.query.copy_(torch.tensor([1.0, 0.0]))
    pooled = pooling(STATES, MASK)
    first = 1 / (1 + math.exp((3.0 - 1.0) / scale))
    torch.testing.assert_close(pooled.scores[0], torch.tensor([1 / scale, 3 / scale, 0.0]))
    torch.testing.assert_close(pooled.weights[0], torch.tensor([first, 1 - first, 0.0]))
    torch.testing.assert_close(pooled.vector[0], first * STATES[0, 0] + (1 - first) * STATES[0, 1])
    assert pooled.query is pooling.scorer.query


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attention": "nope"}, "attention: expected one of additive, dot, got 'nope'"),
        ({"scale": 0.0}, "scale: expected a number above 0, got 0.0"),
    ],
)
def test_invalid_score_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Attention(4, **options)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (APLN, {"norm": "words"}, "norm: expected one of scalar, sample, feature, got 'words'"),
        (APLN, {"rescale": "cut"}, "rescale: expected one of clip, normalise, signed, got 'cut'"),
        (APLN, {"norm_init": 0.0}, "norm_init: expected a number above 0, got 0.0"),
        (APLN, {"norm_init": float("inf")}, "norm_init: expected a number above 0, got inf"),
        (NormUnit, {"norm_init": 1.0}, "norm_init: expected a finite number above 1, .* got 1$"),
        (NormUnit, {"norm_init": float("nan")}, "norm_init: expected a finite number above 1, .* got nan$"),
        (NormUnit, {"norm_init": float("inf")}, "norm_init: expected a finite number above 1, .* got inf$"),
    ],
)
def test_invalid_norm_options_are_refused(kind: type[Pooling], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kind(4, **options)


def test_a_whole_number_as_initial_norm_gives_parameters_with_gradients() -> None:
    for norm in (3, 64):
        pooling = NormUnit(4, norm)
        pooled = pooling(torch.rand(2, 3, 4), torch.ones(2, 3, dtype=torch.bool))
        pooled.vector.sum().backward()
        assert pooled.norm is not None
        torch.testing.assert_close(pooled.norm.detach(), torch.full((4,), float(norm)))
        assert pooling.rho.grad is not None
