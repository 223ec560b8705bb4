"""APLN against the paper's formula, attention and the maximum."""

from __future__ import annotations

import math

import pytest
import torch

from regard.kernels.power_mean import EPSILON, power_mean
from regard.masking import masked_softmax
from regard.poolings.apln import APLN
from regard.poolings.attention import Attention
from regard.poolings.norm_unit import NormUnit

LENGTHS = torch.tensor([9, 4, 1, 0])
MASK = torch.arange(9) < LENGTHS.unsqueeze(1)


def pair(norm: float, dtype: torch.dtype, dim: int = 5) -> tuple[Attention, APLN]:
    torch.manual_seed(0)
    attention, pooling = Attention(dim, query=7).to(dtype), APLN(dim, query=7, norm_init=norm).to(dtype)
    pooling.scorer.load_state_dict(attention.scorer.state_dict())
    return attention, pooling


def test_power_mean_by_hand() -> None:
    """p = 2, α = ¾ and ¼, h = 0.4 and 0.8: √((0.3² + 0.2²) / (0.75² + 0.25²)) = √(0.13 / 0.625)."""
    scaled, weights = torch.tensor([[[0.3], [0.2]]]).double(), torch.tensor([[0.75, 0.25]]).double()
    found = power_mean(scaled, weights, torch.tensor(2.0).double(), torch.tensor([[True, True]]))
    assert found.item() == pytest.approx(math.sqrt(0.13 / 0.625), abs=1e-6)


@pytest.mark.parametrize("norm", [0.3, 0.9, 1.0, 2.0, 5.0])
def test_equals_the_formula_with_plain_powers(norm: float) -> None:
    _, pooling = pair(norm, torch.float64)
    states = torch.rand(4, 9, 5, dtype=torch.float64) * 2 - 0.5
    alpha = masked_softmax(pooling.scorer(states), MASK)
    for row, length in enumerate(LENGTHS.tolist()[:3]):
        a, h = alpha[row, :length, None], states[row, :length]
        expected = (((a * h).clamp(0, 1) + EPSILON) ** norm).sum(0) / ((a + EPSILON) ** norm).sum(0)
        torch.testing.assert_close(pooling(states, MASK).vector[row], expected ** (1 / norm))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_at_norm_one_it_is_attention(dtype: torch.dtype) -> None:
    attention, pooling = pair(1.0, dtype)
    states = torch.rand(4, 9, 5, dtype=dtype)
    gap = (attention(states, MASK).vector - pooling(states, MASK).vector).abs()
    rounding = 1e-6 if dtype == torch.float32 else 1e-14
    assert (gap <= (2 * LENGTHS * EPSILON).unsqueeze(1) + rounding).all()
    torch.testing.assert_close(attention(states, MASK).weights, pooling(states, MASK).weights)


def test_at_a_large_norm_it_is_the_maximum_form() -> None:
    _, pooling = pair(200.0, torch.float32)
    states = torch.rand(4, 9, 5)
    alpha = masked_softmax(pooling.scorer(states), MASK)
    found = pooling(states, MASK).vector
    for row in range(3):
        expected = (alpha[row, :, None] * states[row]).amax(0) / alpha[row].max()
        torch.testing.assert_close(found[row], expected, rtol=0, atol=1e-2)


def test_drawn_weights_are_attention_to_the_power_p_renormalised() -> None:
    _, pooling = pair(2.5, torch.float64)
    states = torch.randn(4, 9, 5, dtype=torch.float64)
    alpha = masked_softmax(pooling.scorer(states), MASK)
    raised = alpha**2.5
    expected = raised / raised.sum(1, keepdim=True).clamp_min(1e-300)
    torch.testing.assert_close(pooling(states, MASK).weights, expected)


def test_the_norm_learns_from_one_in_either_direction() -> None:
    """Asked for larger vectors p must move one way, asked for smaller ones the other."""
    moves = []
    for sign in (1, -1):
        _, pooling = pair(1.0, torch.float64)
        (sign * pooling(torch.rand(4, 9, 5, dtype=torch.float64), MASK).vector.sum()).backward()
        assert pooling.log_norm.grad is not None
        moves.append(pooling.log_norm.grad.item())
    assert moves[0] * moves[1] < 0


def test_a_norm_per_text_starts_the_same_and_then_differs() -> None:
    pooling = APLN(5, query=7, norm="sample", norm_init=1.5).double()
    states = torch.randn(4, 9, 5, dtype=torch.float64)
    norm = pooling(states, MASK).norm
    assert norm is not None
    torch.testing.assert_close(norm, torch.full((4, 1), 1.5, dtype=torch.float64))
    with torch.no_grad():
        pooling.predictor.add_(torch.randn(5))  # type: ignore[union-attr]
    changed = pooling(states, MASK).norm
    assert changed is not None
    assert len(changed.unique()) == 4


def test_the_switches_are_what_keeps_it_stable() -> None:
    """Without the limit at zero, powers of negative numbers are not real; with it they never occur."""
    torch.manual_seed(0)
    states = torch.randn(4, 9, 5, dtype=torch.float64)
    for nonnegative in (True, False):
        pooling = APLN(5, query=7, norm_init=1.2, nonnegative=nonnegative, reformulate=False).double()
        assert pooling(states, MASK).vector.isfinite().all().item() is nonnegative


def test_norm_unit_by_hand() -> None:
    """p = 2, centre 1: √(((3−1)² + (0−1)²) / 2) = √2.5; its two words weigh 4/5 and 1/5."""
    pooling = NormUnit(1, 2.0).double()
    with torch.no_grad():
        pooling.centre.fill_(1)
    pooled = pooling(torch.tensor([[[3.0], [0.0], [9.0]]]).double(), torch.tensor([[True, True, False]]))
    assert pooled.vector.item() == pytest.approx(math.sqrt(2.5), abs=1e-6)
    assert pooled.weights[0].tolist() == pytest.approx([0.8, 0.2, 0.0], abs=1e-6)
