"""The fused kernels beside the plain form in float64: values, every gradient, padding, and what they refuse."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.kernels.attended_power_mean import attended_power_mean, triton_is_there

if not (torch.cuda.is_available() and triton_is_there()):
    pytest.skip("needs a CUDA device and Triton", allow_module_level=True)

from regard.kernels.fused_power_mean import fused_power_mean

SHAPES = [
    (5, 70, 150),
    (3, 33, 128),
    (2, 1, 1),
    (4, 600, 20),
    (2, 1300, 300),
    (300, 40, 128),
]  # few texts and many take other tiles
NORMS = ("scalar", "sample", "feature")


def make(
    shape: tuple[int, int, int], kind: str, norm: float, padding: str = "last"
) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    """States with zeros, negative and huge values; rows of every length, an empty one among them."""
    rows, length, dim = shape
    chance = torch.Generator().manual_seed(0)
    lengths = torch.randint(0, length + 1, (rows,), generator=chance)
    lengths[0], lengths[1] = length, 0
    mask = torch.arange(length) < lengths.unsqueeze(1)
    if padding == "first":
        mask = mask.flip(1)
    elif padding == "between":
        mask[2:] &= torch.rand(rows - 2, length, generator=chance) < 0.6
    states = torch.randn(shape, generator=chance) * 2
    states[0, 0, 0] = 0
    states[0, length // 2] = 1e4
    alpha = torch.randn(rows, length, generator=chance).masked_fill(~mask, -1e30).softmax(1) * mask
    spread = torch.rand({"scalar": (), "sample": (rows, 1), "feature": (dim,)}[kind], generator=chance) + 0.5
    return (states, alpha, norm * (spread if kind != "scalar" else torch.ones(()))), mask


def gradients(
    values: tuple[Tensor, ...], mask: Tensor, given: Tensor, device: str, double: bool
) -> tuple[Tensor, list[Tensor]]:
    inputs = [(value.double() if double else value).to(device).requires_grad_() for value in values]
    vector = (attended_power_mean if double else fused_power_mean)(*inputs, mask.to(device))
    vector.backward(given.to(vector))
    return vector.detach().cpu().double(), [value.grad.cpu().double() for value in inputs if value.grad is not None]


def apart(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).norm() / expected.norm().clamp_min(1e-30))


@pytest.mark.parametrize("padding", ["last", "first", "between"])
@pytest.mark.parametrize("norm", [0.05, 0.5, 1.0, 2.0, 8.0, 64.0])
@pytest.mark.parametrize("kind", NORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_plain_form_in_float64(shape: tuple[int, int, int], kind: str, norm: float, padding: str) -> None:
    values, mask = make(shape, kind, norm, padding)
    given = torch.randn(shape[0], shape[2], generator=torch.Generator().manual_seed(1))
    found, ours = gradients(values, mask, given, "cuda", False)
    expected, theirs = gradients(values, mask, given, "cpu", True)
    limit = max(1e-5, 1e-6 * norm)
    assert apart(found, expected) < limit
    assert apart(ours[0], theirs[0]) < limit
    assert apart(ours[1], theirs[1]) < limit
    # ∂r/∂p is r / p times a difference of logarithms that may all but vanish, and its sum has terms of both signs
    size = (given.abs() * expected).norm() / norm
    assert float((ours[2] - theirs[2]).norm() / size.clamp_min(1e-30)) < limit
    assert (found[1] == 0).all(), "a row without tokens gives zeros"
    assert (ours[0][~mask] == 0).all(), "padding gets no gradient"
    assert (ours[1][~mask] == 0).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_states_are_read_as_they_are(dtype: torch.dtype) -> None:
    (states, alpha, norm), mask = make((5, 70, 150), "scalar", 1.3)
    states, given = states.to(dtype), torch.randn(5, 150)
    found, ours = gradients((states, alpha, norm), mask, given, "cuda", False)
    expected, theirs = gradients((states, alpha, norm), mask, given, "cpu", True)
    assert apart(found, expected) < 1e-6
    assert apart(ours[0], theirs[0]) < torch.finfo(dtype).eps  # rounded once, at the end
    assert apart(ours[1], theirs[1]) < 1e-5
    assert apart(ours[2], theirs[2]) < 1e-5


def test_states_may_be_a_part_of_something_wider() -> None:
    (states, alpha, norm), mask = make((3, 40, 64), "scalar", 2.0)
    wide = torch.randn(3, 50, 100, device="cuda")
    wide[:, :40, :64] = states.cuda()
    whole = fused_power_mean(states.cuda(), alpha.cuda(), norm.cuda(), mask.cuda())
    part = fused_power_mean(wide[:, :40, :64], alpha.cuda(), norm.cuda(), mask.cuda())  # other strides, other orders
    turned = fused_power_mean(states.cuda().mT.contiguous().mT, alpha.cuda(), norm.cuda(), mask.cuda())
    torch.testing.assert_close(part, whole, rtol=1e-6, atol=0)
    torch.testing.assert_close(turned, whole, rtol=1e-6, atol=0)


def test_a_state_that_is_no_number_shows() -> None:
    (states, alpha, norm), mask = make((3, 40, 64), "scalar", 1.0)
    states[0, 3, 5] = torch.nan
    found = fused_power_mean(states.cuda(), alpha.cuda(), norm.cuda(), mask.cuda())
    assert found.isnan().nonzero().tolist() == [[0, 5]]


def test_twice_the_same() -> None:
    values, mask = make((5, 600, 150), "scalar", 0.9)
    given = torch.randn(5, 150)
    first, second = (gradients(values, mask, given, "cuda", False) for _ in range(2))
    assert torch.equal(first[0], second[0])
    assert all(torch.equal(*pair) for pair in zip(first[1], second[1], strict=True))


def test_it_cannot_be_differentiated_twice() -> None:
    (states, alpha, norm), mask = make((2, 5, 4), "scalar", 2.0)
    states = states.cuda().requires_grad_()
    vector = fused_power_mean(states, alpha.cuda(), norm.cuda(), mask.cuda())
    (slope,) = torch.autograd.grad(vector.sum(), states, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiated once only"):
        (slope * states).sum().backward()


def test_the_door_takes_it() -> None:
    (states, alpha, norm), mask = make((3, 40, 64), "scalar", 2.0)
    given = [value.cuda() for value in (states, alpha, norm, mask)]
    assert torch.equal(attended_power_mean(*given), fused_power_mean(*given))
