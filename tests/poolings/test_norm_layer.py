"""Learned-norm units in place of an activation function, by hand, by finite differences, in an MLP and in an RNN."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from regard.errors import InputError
from regard.poolings import NormLayer, NormUnit


def test_two_units_by_hand() -> None:
    """(3, 4) with p = 2: √(25/2).  (1, −2) around (0, 1) with p = 3: ((1 + 27)/2)^(1/3)."""
    layer = NormLayer(2, 2)
    with torch.no_grad():
        layer.rho[1] = math.log(math.expm1(2.0))  # p = 1 + 2
        layer.centre[1, 1] = 1.0
    result = layer(torch.tensor([[3.0, 4.0, 1.0, -2.0]]))
    assert layer.norm.tolist() == pytest.approx([2, 3])
    assert result[0].tolist() == pytest.approx([math.sqrt(12.5), 14 ** (1 / 3)], rel=1e-5)


def test_it_is_the_pooling_norm_unit_over_the_inputs() -> None:
    layer, pooling = NormLayer(3, 5, norm_init=2.5), NormUnit(3, norm_init=2.5)
    z = torch.randn(4, 15, generator=torch.Generator().manual_seed(0))
    states = z.view(4, 3, 5).mT
    torch.testing.assert_close(layer(z), pooling(states, torch.ones(4, 5, dtype=torch.bool)).vector)


def test_a_large_norm_is_the_largest_distance_and_leading_axes_stay() -> None:
    z = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(1))
    result = NormLayer(2, 4, norm_init=400.0)(z)
    assert result.shape == (2, 3, 2)
    torch.testing.assert_close(result, z.abs().view(2, 3, 2, 4).amax(-1), rtol=0.01, atol=0)


def test_gradients_are_those_of_finite_differences_also_through_time() -> None:
    layer = NormLayer(3, 2).double()
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(4, 6, generator=generator, dtype=torch.float64, requires_grad=True)
    parameters = tuple(value.detach().clone().requires_grad_() for value in (layer.rho, layer.centre + 0.1))

    def run(x: torch.Tensor, rho: torch.Tensor, centre: torch.Tensor) -> torch.Tensor:
        h = x.new_zeros(4, 3)
        for _ in range(3):  # a recurrent network whose activation is the layer
            h = torch.func.functional_call(layer, {"rho": rho, "centre": centre}, (x + h.repeat(1, 2),))
        return h

    assert torch.autograd.gradcheck(run, (x, *parameters))


def test_a_layer_of_zeros_has_finite_gradients() -> None:
    layer = NormLayer(2, 3)
    z = torch.zeros(2, 6, requires_grad=True)
    layer(z).sum().backward()
    assert z.grad is not None
    for gradient in (z.grad, layer.rho.grad, layer.centre.grad):
        assert gradient is not None
        assert gradient.isfinite().all()


def test_it_learns_its_norm_in_an_mlp_or_keeps_it() -> None:
    for learn_norm in (True, False):
        torch.manual_seed(0)
        layer = NormLayer(4, 2, learn_norm=learn_norm)
        model = nn.Sequential(nn.Linear(2, 8), layer, nn.Linear(4, 1))
        optimizer = torch.optim.Adam([each for each in model.parameters() if each.requires_grad], 0.05)
        x = torch.randn(64, 2)
        y = (x.abs().amax(1) < 1).float()
        losses = []
        for _ in range(60):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < losses[0] / 2
        assert (layer.norm != 2).all() == learn_norm


def test_bad_sizes_are_refused() -> None:
    with pytest.raises(InputError, match="expected numbers above 0, got 0 and 2"):
        NormLayer(0, 2)
    with pytest.raises(InputError, match="norm_init: expected a finite number above 1"):
        NormLayer(1, 2, norm_init=1.0)
    with pytest.raises(InputError, match="expected 2 × 3 = 6 values on the last axis, got 5"):
        NormLayer(2, 3)(torch.zeros(1, 5))
