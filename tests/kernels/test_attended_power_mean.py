"""The attended power mean: what it computes on a CPU, and when it uses the fused kernel."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.kernels import attended_power_mean as dispatch
from regard.kernels.attended_power_mean import attended_power_mean, fusable
from regard.kernels.power_mean import EPSILON

MASK = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])
WEIGHTS = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
STATES = torch.tensor([0.4, -3.0, 9.0]).reshape(1, 3, 1).expand(3, 3, 2).contiguous()


def test_clips_the_weighted_states_and_takes_their_power_mean() -> None:
    """p = 2: α h = 0.2, −0.9, 1.8 → 0.2, 0, 1; √((0.04 + 0 + 1) / (0.25 + 0.09 + 0.04)); a single state is returned unchanged."""
    vector = attended_power_mean(STATES, WEIGHTS, torch.tensor(2.0), MASK)
    expected = torch.tensor([[(1.04 / 0.38) ** 0.5] * 2, [0.4] * 2, [0.0] * 2])
    torch.testing.assert_close(vector, expected, rtol=0, atol=10 * EPSILON)


def test_half_precision_states_give_float32() -> None:
    vector = attended_power_mean(STATES.bfloat16(), WEIGHTS, torch.tensor(2.0), MASK)
    assert vector.dtype == torch.float32


def test_the_clip_has_no_gradient_at_0_and_1() -> None:
    """α h = 0, 0.5 and 1 with α = 1 each."""
    states = torch.tensor([0.0, 0.5, 1.0]).reshape(3, 1, 1).requires_grad_()
    mask = torch.ones(3, 1, dtype=torch.bool)
    attended_power_mean(states, mask.float(), torch.tensor(2.0), mask).sum().backward()
    assert states.grad is not None
    torch.testing.assert_close(states.grad.flatten(), torch.tensor([0.0, 1.0, 0.0]))


@pytest.fixture
def fused(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Calls of the fused kernel, recorded instead of run."""
    calls: list[tuple[Any, ...]] = []
    module = ModuleType("regard.kernels.fused_power_mean")
    module.fused_power_mean = lambda *arguments: calls.append(arguments)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(dispatch, "has_triton", lambda: True)
    monkeypatch.setattr(dispatch, "is_stacked", lambda *_: False)  # the stand-ins for CUDA tensors are not tensors
    return calls


def test_cpu_tensors_use_the_plain_implementation(fused: list[tuple[Any, ...]]) -> None:
    attended_power_mean(STATES, WEIGHTS, torch.tensor(2.0), MASK)
    assert not fused


def test_cuda_tensors_use_the_fused_kernel(fused: list[tuple[Any, ...]]) -> None:
    on_cuda: Any = SimpleNamespace(is_cuda=True, dtype=torch.bfloat16, numel=lambda: 6)
    attended_power_mean(on_cuda, WEIGHTS, torch.tensor(2.0), MASK)
    assert fused[0][0] is on_cuda


@pytest.mark.parametrize(
    ("dtype", "weights", "elements", "triton"),
    [
        (torch.float64, torch.float64, 6, True),  # finite differences need it
        (torch.float32, torch.float64, 6, True),
        (torch.float32, torch.float32, 0, True),
        (torch.float32, torch.float32, 6, False),
    ],
)
def test_tensors_that_cannot_be_fused(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, weights: torch.dtype, elements: int, triton: bool
) -> None:
    monkeypatch.setattr(dispatch, "has_triton", lambda: triton)
    on_cuda: Any = SimpleNamespace(is_cuda=True, dtype=dtype, numel=lambda: elements)
    alpha, norm = (Tensor(torch.ones(1)).to(weights) for _ in range(2))
    assert not fusable(on_cuda, alpha, norm)
