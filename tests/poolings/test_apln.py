"""APLN against the paper's formula, attention and the maximum."""

from __future__ import annotations

import math

import pytest
import torch

from regard.kernels.power_mean import EPSILON, NEAR_ZERO, altered_power_mean, power_mean, signed_power_mean
from regard.masking import masked_softmax
from regard.poolings import apln
from regard.poolings.apln import APLN, FORMS
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
    actual = power_mean(scaled, weights, torch.tensor(2.0).double(), torch.tensor([[True, True]]))
    assert actual.item() == pytest.approx(math.sqrt(0.13 / 0.625), abs=1e-6)


def test_altered_power_means_by_hand() -> None:
    """The same numbers: Σ (α h)² = 0.13, Σ α² = 0.625, N = 2; the third item is padding."""
    scaled, weights = torch.tensor([[[0.3], [0.2], [9.0]]]).double(), torch.tensor([[0.75, 0.25, 0.0]]).double()
    mask, norm = torch.tensor([[True, True, False]]), torch.tensor(2.0).double()
    expected = {
        "no_root": 0.13 / 0.625,
        "no_normaliser": math.sqrt(0.13),
        "neither": 0.13,
        "divided_by_n": math.sqrt(0.13 / 2),
    }
    assert ("printed", *expected) == FORMS
    for form, value in expected.items():
        assert altered_power_mean(scaled, weights, norm, mask, form).item() == pytest.approx(value, abs=1e-6)
        assert altered_power_mean(scaled, weights, norm, ~mask.any(1, keepdim=True) & mask, form).item() == 0


def test_every_form_but_division_is_attention_at_norm_one() -> None:
    torch.manual_seed(0)
    states = torch.rand(4, 9, 5, dtype=torch.float64)
    attention, _ = pair(1.0, torch.float64)
    for form in FORMS:
        pooling = APLN(5, query=7, form=form).double()  # type: ignore[arg-type]
        pooling.scorer.load_state_dict(attention.scorer.state_dict())
        expected = attention(states, MASK).vector
        if form == "divided_by_n":
            expected = expected / LENGTHS.clamp_min(1).unsqueeze(1)
        torch.testing.assert_close(pooling(states, MASK).vector, expected, rtol=1e-4, atol=1e-6)


def test_only_the_printed_form_uses_the_fused_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("fused")

    monkeypatch.setattr(apln, "attended_power_mean", refuse)
    for form in FORMS[1:]:
        APLN(5, query=7, form=form)(torch.rand(4, 9, 5), MASK)  # type: ignore[arg-type]
    with pytest.raises(AssertionError, match="fused"):
        APLN(5, query=7)(torch.rand(4, 9, 5), MASK)


def test_signed_power_mean_by_hand() -> None:
    """p = 2, α = ¾ and ¼: (−0.3² + 0.2²) / (0.75² + 0.25²) = −0.05 / 0.625, and the root keeps the sign: −√0.08."""
    scaled, weights = torch.tensor([[[-0.3, 0.3], [0.2, 0.2]]]).double(), torch.tensor([[0.75, 0.25]]).double()
    actual = signed_power_mean(scaled, weights, torch.tensor(2.0).double(), torch.tensor([[True, True]]))
    assert actual[0].tolist() == pytest.approx([-math.sqrt(0.08), math.sqrt(0.13 / 0.625)], abs=1e-5)


def test_signed_powers_of_positive_states_equal_plain_powers() -> None:
    torch.manual_seed(0)
    states = torch.rand(4, 9, 5, dtype=torch.float64) + 0.5
    weights = masked_softmax(torch.rand(4, 9, dtype=torch.float64), MASK)
    scaled = weights.unsqueeze(-1) * states
    for norm in (torch.tensor(0.4), torch.tensor(3.0), torch.linspace(0.5, 4, 5), torch.rand(4, 1) + 0.5):
        norm = norm.double()
        expected, actual = (mean(scaled, weights, norm, MASK) for mean in (power_mean, signed_power_mean))
        # every value is above a tenth of its row's largest: (δ / 0.1)² / 2 of difference per unit of p
        torch.testing.assert_close(actual, expected, rtol=2e-4, atol=0)
        torch.testing.assert_close(signed_power_mean(-scaled, weights, norm, MASK), -actual, rtol=0, atol=0)


def test_signed_powers_at_norm_one_equal_attention_for_negative_states_too() -> None:
    torch.manual_seed(0)
    attention, pooling = Attention(5, query=7).double(), APLN(5, query=7, rescale="signed").double()
    pooling.scorer.load_state_dict(attention.scorer.state_dict())
    states = torch.rand(4, 9, 5, dtype=torch.float64) * 2 - 1
    actual, expected = pooling(states, MASK).vector, attention(states, MASK).vector
    assert (expected < 0).any()
    torch.testing.assert_close(actual * (1 + LENGTHS * EPSILON).unsqueeze(1), expected)


def test_a_signed_root_has_a_bounded_slope_where_words_cancel() -> None:
    """+0.2 and −0.2 cancel: r = 0 there, and with p = 4 a slope of |m|^(1/4) would be infinite."""
    scaled = torch.tensor([[[0.2], [-0.2]]], dtype=torch.float64, requires_grad=True)
    weights, norm = torch.tensor([[0.5, 0.5]]).double(), torch.tensor(4.0).double().requires_grad_()
    actual = signed_power_mean(scaled, weights, norm, torch.tensor([[True, True]]))
    actual.sum().backward()
    assert actual.item() == 0
    assert norm.grad is not None
    assert norm.grad.item() == 0
    # in units of 0.2:  dr = (0.2 / (2 · 0.5⁴)^¼) · δ^(¼−1) · d(total),  d(total) = 4 dx / 0.2
    slope = 0.2 / (2 * 0.5**4) ** 0.25 * NEAR_ZERO ** (0.25 - 1) * 4 / 0.2
    assert scaled.grad is not None
    assert scaled.grad.flatten().tolist() == pytest.approx([slope, slope], rel=1e-5)


def test_zero_states_let_the_norm_change_the_length() -> None:
    """α = ½ and ½, h = 1 and 0: r = ½^(1/p), which grows by ½ log 2 per unit of p at p = 1; with h = 1 and 1, r stays 1."""
    weights, mask = torch.tensor([[0.5, 0.5]]).double(), torch.tensor([[True, True]])
    scaled, p = torch.tensor([[[0.5, 0.5], [0.0, 0.5]]]).double(), torch.ones(()).double()
    r, slope = torch.autograd.functional.jvp(lambda p: power_mean(scaled, weights, p, mask), p, torch.ones_like(p))
    assert r[0].tolist() == pytest.approx([0.5, 1.0], abs=1e-6)
    assert slope[0].tolist() == pytest.approx([0.5 * math.log(2), 0], abs=1e-5)


@pytest.mark.parametrize("norm", [0.4, 1.0, 2.5])
def test_the_norms_derivative_is_a_spread_and_a_covariance(norm: float) -> None:
    """With u = x^p / Σ x^p and w = α^p / Σ α^p:  d log r / dp = KL(u‖w) / p² + Σ (u − w) log α / p.

    The first part is never negative: a power mean grows with p. The second, at p = 1, is the covariance of states and
    scores under α, divided by r: it is positive if the attended words have the larger states.
    """
    torch.manual_seed(0)
    states = torch.rand(1, 9, 5, dtype=torch.float64) + 0.1
    weights = torch.randn(1, 9, dtype=torch.float64).softmax(1)
    p = torch.tensor(norm).double()
    scaled, mask = weights.unsqueeze(-1) * states, torch.ones(1, 9, dtype=torch.bool)
    r, slope = torch.autograd.functional.jvp(lambda p: power_mean(scaled, weights, p, mask), p, torch.ones_like(p))
    u, w = scaled**norm / (scaled**norm).sum(1, keepdim=True), (weights**norm / (weights**norm).sum()).unsqueeze(-1)
    spread = (u * (u / w).log()).sum(1)
    attended = ((u - w) * weights.log().unsqueeze(-1)).sum(1)
    assert (spread > 0).all()
    torch.testing.assert_close(slope / r, spread / norm**2 + attended / norm, rtol=1e-4, atol=1e-6)
    if norm == 1:
        scores = weights.log().unsqueeze(-1)  # up to a constant, which does not change the covariance
        covariance = (w * states * scores).sum(1) - (w * states).sum(1) * (w * scores).sum(1)
        torch.testing.assert_close(attended, covariance / r, rtol=1e-4, atol=1e-6)


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
def test_at_norm_one_it_equals_attention(dtype: torch.dtype) -> None:
    attention, pooling = pair(1.0, dtype)
    states = torch.rand(4, 9, 5, dtype=dtype)
    gap = (attention(states, MASK).vector - pooling(states, MASK).vector).abs()
    rounding = 1e-6 if dtype == torch.float32 else 1e-14
    assert (gap <= (2 * LENGTHS * EPSILON).unsqueeze(1) + rounding).all()
    torch.testing.assert_close(attention(states, MASK).weights, pooling(states, MASK).weights)


def test_at_a_large_norm_it_approaches_the_maximum() -> None:
    _, pooling = pair(200.0, torch.float32)
    states = torch.rand(4, 9, 5)
    alpha = masked_softmax(pooling.scorer(states), MASK)
    actual = pooling(states, MASK).vector
    for row in range(3):
        expected = (alpha[row, :, None] * states[row]).amax(0) / alpha[row].max()
        torch.testing.assert_close(actual[row], expected, rtol=0, atol=1e-2)


def test_weights_are_attention_to_the_power_p_renormalised() -> None:
    _, pooling = pair(2.5, torch.float64)
    states = torch.randn(4, 9, 5, dtype=torch.float64)
    alpha = masked_softmax(pooling.scorer(states), MASK)
    raised = alpha**2.5
    expected = raised / raised.sum(1, keepdim=True).clamp_min(1e-300)
    torch.testing.assert_close(pooling(states, MASK).weights, expected)


def test_the_norm_can_move_from_one_in_either_direction() -> None:
    """A loss that rewards larger vectors moves p one way, one that rewards smaller vectors the other way."""
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


def test_at_unit_length_the_norm_rotates_the_vector_without_lengthening_it() -> None:
    torch.manual_seed(0)
    pooling = APLN(5, query=7, unit_length=True).double()
    states = torch.rand(4, 9, 5, dtype=torch.float64)
    vectors = []
    for norm in (0.5, 3.0):
        with torch.no_grad():
            pooling.log_norm.fill_(math.log(norm))
        vector = pooling(states, MASK).vector
        assert vector.norm(dim=1).tolist() == pytest.approx([math.sqrt(5)] * 3 + [0], rel=1e-6)
        vectors.append(vector)
    assert (vectors[0] - vectors[1])[:2].abs().max() > 0.01
    torch.testing.assert_close(
        vectors[0][2], vectors[1][2], rtol=1e-3, atol=0
    )  # with one word there is nothing to average


def test_the_switches_keep_it_stable() -> None:
    """Powers of negative numbers are not real; the clip at zero prevents them."""
    torch.manual_seed(0)
    states = torch.randn(4, 9, 5, dtype=torch.float64)
    for nonnegative in (True, False):
        pooling = APLN(5, query=7, norm_init=1.2, nonnegative=nonnegative, reformulate=False).double()
        assert pooling(states, MASK).vector.isfinite().all().item() is nonnegative


def test_norm_unit_by_hand() -> None:
    """p = 2, centre 1: √(((3−1)² + (0−1)²) / 2) = √2.5; the weights of its two words are 4/5 and 1/5."""
    pooling = NormUnit(1, 2.0).double()
    with torch.no_grad():
        pooling.centre.fill_(1)
    pooled = pooling(torch.tensor([[[3.0], [0.0], [9.0]]]).double(), torch.tensor([[True, True, False]]))
    assert pooled.vector.item() == pytest.approx(math.sqrt(2.5), abs=1e-6)
    assert pooled.weights[0].tolist() == pytest.approx([0.8, 0.2, 0.0], abs=1e-6)


@pytest.mark.parametrize("norm", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("form", ["no_root", "no_normaliser", "neither", "divided_by_n"])
def test_the_derivative_of_other_forms(form: str, norm: float) -> None:
    """d log r / dp, as docs/norms.md has it: with u = x^p / Σ x^p, w = α^p / Σ α^p and x = α h."""
    torch.manual_seed(0)
    states = torch.rand(1, 9, 5, dtype=torch.float64) + 0.1
    weights = torch.randn(1, 9, dtype=torch.float64).softmax(1)
    p = torch.tensor(norm).double()
    scaled, mask = weights.unsqueeze(-1) * states, torch.ones(1, 9, dtype=torch.bool)
    r, slope = torch.autograd.functional.jvp(
        lambda p: altered_power_mean(scaled, weights, p, mask, form), p, torch.ones_like(p)
    )
    u, w = scaled**norm / (scaled**norm).sum(1, keepdim=True), (weights**norm / (weights**norm).sum()).unsqueeze(-1)
    entropy = -(u * u.log()).sum(1)
    attended = ((u - w) * weights.log().unsqueeze(-1)).sum(1)
    expected = {
        "no_root": attended + (u * states.log()).sum(1),
        "no_normaliser": -entropy / norm**2,
        "neither": (u * scaled.log()).sum(1),
        "divided_by_n": (math.log(9) - entropy) / norm**2,
    }
    torch.testing.assert_close(slope / r, expected[form], rtol=1e-4, atol=1e-5)
