"""The one door to the attended power mean: what it computes on a CPU, and when it takes the fused way."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.kernels import attended_power_mean as door
from regard.kernels.attended_power_mean import attended_power_mean, fusable
from regard.kernels.power_mean import EPSILON

MASK = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])
WEIGHTS = torch.tensor([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
STATES = torch.tensor([0.4, -3.0, 9.0]).reshape(1, 3, 1).expand(3, 3, 2).contiguous()


def test_clips_the_weighted_states_and_takes_their_power_mean() -> None:
    """p = 2: α h = 0.2, −0.9, 1.8 → 0.2, 0, 1; √((0.04 + 0 + 1) / (0.25 + 0.09 + 0.04)); alone, a state is itself."""
    found = attended_power_mean(STATES, WEIGHTS, torch.tensor(2.0), MASK)
    expected = torch.tensor([[(1.04 / 0.38) ** 0.5] * 2, [0.4] * 2, [0.0] * 2])
    torch.testing.assert_close(found, expected, rtol=0, atol=10 * EPSILON)


def test_half_precision_states_give_float32() -> None:
    found = attended_power_mean(STATES.bfloat16(), WEIGHTS, torch.tensor(2.0), MASK)
    assert found.dtype == torch.float32


def test_the_clip_has_no_gradient_at_its_ends() -> None:
    """α h = 0, 0.5 and 1 with α = 1 each."""
    states = torch.tensor([0.0, 0.5, 1.0]).reshape(3, 1, 1).requires_grad_()
    mask = torch.ones(3, 1, dtype=torch.bool)
    attended_power_mean(states, mask.float(), torch.tensor(2.0), mask).sum().backward()
    assert states.grad is not None
    torch.testing.assert_close(states.grad.flatten(), torch.tensor([0.0, 1.0, 0.0]))


@pytest.fixture
def fused(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What the fused way was called with, in place of taking it."""
    calls: list[tuple[Any, ...]] = []
    module = ModuleType("regard.kernels.fused_power_mean")
    module.fused_power_mean = lambda *given: calls.append(given)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(door, "triton_is_there", lambda: True)
    monkeypatch.setattr(door, "is_stacked", lambda *_: False)  # what stands in for CUDA tensors is no tensor
    return calls


def test_tensors_of_a_cpu_go_the_plain_way(fused: list[tuple[Any, ...]]) -> None:
    attended_power_mean(STATES, WEIGHTS, torch.tensor(2.0), MASK)
    assert not fused


def test_what_can_be_fused_is(fused: list[tuple[Any, ...]]) -> None:
    on_cuda: Any = SimpleNamespace(is_cuda=True, dtype=torch.bfloat16, numel=lambda: 6)
    attended_power_mean(on_cuda, WEIGHTS, torch.tensor(2.0), MASK)
    assert fused[0][0] is on_cuda


@pytest.mark.parametrize(
    ("dtype", "weights", "places", "triton"),
    [
        (torch.float64, torch.float64, 6, True),  # finite differences need it
        (torch.float32, torch.float64, 6, True),
        (torch.float32, torch.float32, 0, True),
        (torch.float32, torch.float32, 6, False),
    ],
)
def test_what_cannot_be_fused_goes_the_plain_way(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype, weights: torch.dtype, places: int, triton: bool
) -> None:
    monkeypatch.setattr(door, "triton_is_there", lambda: triton)
    on_cuda: Any = SimpleNamespace(is_cuda=True, dtype=dtype, numel=lambda: places)
    alpha, norm = (Tensor(torch.ones(1)).to(weights) for _ in range(2))
    assert not fusable(on_cuda, alpha, norm)
