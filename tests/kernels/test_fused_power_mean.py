"""The fused kernels against the plain implementation in float64: values, all gradients, padding and refusals."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.kernels.attended_power_mean import attended_power_mean, has_triton

if not (torch.cuda.is_available() and has_triton()):
    pytest.skip("needs a CUDA device and Triton", allow_module_level=True)

from regard.kernels.fused_power_mean import fused_power_mean

SHAPES = [
    (5, 70, 150),
    (3, 33, 128),
    (2, 1, 1),
    (4, 600, 20),
    (2, 1300, 300),
    (300, 40, 128),
]  # few and many texts use different tiles
NORMS = ("scalar", "sample", "feature")


def make(
    shape: tuple[int, int, int], kind: str, norm: float, padding: str = "last"
) -> tuple[tuple[Tensor, Tensor, Tensor], Tensor]:
    """States with zeros, negative and huge values; rows of many lengths, one of them empty."""
    rows, length, dim = shape
    rng = torch.Generator().manual_seed(0)
    lengths = torch.randint(0, length + 1, (rows,), generator=rng)
    lengths[0], lengths[1] = length, 0
    mask = torch.arange(length) < lengths.unsqueeze(1)
    if padding == "first":
        mask = mask.flip(1)
    elif padding == "between":
        mask[2:] &= torch.rand(rows - 2, length, generator=rng) < 0.6
    states = torch.randn(shape, generator=rng) * 2
    states[0, 0, 0] = 0
    states[0, length // 2] = 1e4
    alpha = torch.randn(rows, length, generator=rng).masked_fill(~mask, -1e30).softmax(1) * mask
    spread = torch.rand({"scalar": (), "sample": (rows, 1), "feature": (dim,)}[kind], generator=rng) + 0.5
    return (states, alpha, norm * (spread if kind != "scalar" else torch.ones(()))), mask


def gradients(
    values: tuple[Tensor, ...], mask: Tensor, upstream: Tensor, device: str, double: bool
) -> tuple[Tensor, list[Tensor]]:
    inputs = [(value.double() if double else value).to(device).requires_grad_() for value in values]
    vector = (attended_power_mean if double else fused_power_mean)(*inputs, mask.to(device))
    vector.backward(upstream.to(vector))
    return vector.detach().cpu().double(), [value.grad.cpu().double() for value in inputs if value.grad is not None]


def relative_error(result: Tensor, expected: Tensor) -> float:
    return float((result - expected).norm() / expected.norm().clamp_min(1e-30))


@pytest.mark.parametrize("padding", ["last", "first", "between"])
@pytest.mark.parametrize("norm", [0.05, 0.5, 1.0, 2.0, 8.0, 64.0])
@pytest.mark.parametrize("kind", NORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_the_plain_implementation_in_float64(
    shape: tuple[int, int, int], kind: str, norm: float, padding: str
) -> None:
    values, mask = make(shape, kind, norm, padding)
    upstream = torch.randn(shape[0], shape[2], generator=torch.Generator().manual_seed(1))
    result, ours = gradients(values, mask, upstream, "cuda", False)
    expected, reference = gradients(values, mask, upstream, "cpu", True)
    limit = max(1e-5, 1e-6 * norm)
    assert relative_error(result, expected) < limit
    assert relative_error(ours[0], reference[0]) < limit
    assert relative_error(ours[1], reference[1]) < limit
    # ∂r/∂p is r / p times a difference of logarithms that may nearly vanish, and its sum has terms of both signs
    size = (upstream.abs() * expected).norm() / norm
    assert float((ours[2] - reference[2]).norm() / size.clamp_min(1e-30)) < limit
    assert (result[1] == 0).all(), "a row without tokens gives zeros"
    assert (ours[0][~mask] == 0).all(), "padding gets no gradient"
    assert (ours[1][~mask] == 0).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_states(dtype: torch.dtype) -> None:
    (states, alpha, norm), mask = make((5, 70, 150), "scalar", 1.3)
    states, upstream = states.to(dtype), torch.randn(5, 150)
    result, ours = gradients((states, alpha, norm), mask, upstream, "cuda", False)
    expected, reference = gradients((states, alpha, norm), mask, upstream, "cpu", True)
    assert relative_error(result, expected) < 1e-6
    assert relative_error(ours[0], reference[0]) < torch.finfo(dtype).eps  # rounded once, at the end
    assert relative_error(ours[1], reference[1]) < 1e-5
    assert relative_error(ours[2], reference[2]) < 1e-5


def test_states_may_be_a_view() -> None:
    (states, alpha, norm), mask = make((3, 40, 64), "scalar", 2.0)
    wide = torch.randn(3, 50, 100, device="cuda")
    wide[:, :40, :64] = states.cuda()
    whole = fused_power_mean(states.cuda(), alpha.cuda(), norm.cuda(), mask.cuda())
    part = fused_power_mean(wide[:, :40, :64], alpha.cuda(), norm.cuda(), mask.cuda())  # other strides, other order
    turned = fused_power_mean(states.cuda().mT.contiguous().mT, alpha.cuda(), norm.cuda(), mask.cuda())
    torch.testing.assert_close(part, whole, rtol=1e-6, atol=0)
    torch.testing.assert_close(turned, whole, rtol=1e-6, atol=0)


def test_nan_propagates() -> None:
    (states, alpha, norm), mask = make((3, 40, 64), "scalar", 1.0)
    states[0, 3, 5] = torch.nan
    result = fused_power_mean(states.cuda(), alpha.cuda(), norm.cuda(), mask.cuda())
    assert result.isnan().nonzero().tolist() == [[0, 5]]


def test_results_are_reproducible() -> None:
    values, mask = make((5, 600, 150), "scalar", 0.9)
    upstream = torch.randn(5, 150)
    first, second = (gradients(values, mask, upstream, "cuda", False) for _ in range(2))
    assert torch.equal(first[0], second[0])
    assert all(torch.equal(*pair) for pair in zip(first[1], second[1], strict=True))


def test_it_cannot_be_differentiated_twice() -> None:
    (states, alpha, norm), mask = make((2, 5, 4), "scalar", 2.0)
    states = states.cuda().requires_grad_()
    vector = fused_power_mean(states, alpha.cuda(), norm.cuda(), mask.cuda())
    (slope,) = torch.autograd.grad(vector.sum(), states, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiated only once"):
        (slope * states).sum().backward()


def test_the_public_function_uses_the_kernel() -> None:
    (states, alpha, norm), mask = make((3, 40, 64), "scalar", 2.0)
    upstream = [value.cuda() for value in (states, alpha, norm, mask)]
    assert torch.equal(attended_power_mean(*upstream), fused_power_mean(*upstream))
