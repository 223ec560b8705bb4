"""The power mean of states under attention weights, clip(α h, 0, 1) and all: one function, two ways to the same numbers.

The plain way makes (N, L, D) intermediates, runs anywhere, in any precision, and can be differentiated again. On CUDA with
Triton the fused way reads the states once; it is chosen by itself.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor
from torch.nn import functional

from regard.kernels.power_mean import power_mean
from regard.kernels.stacking import is_stacked, stacked
from regard.masking import at_least_float32

FUSABLE = (torch.float32, torch.bfloat16, torch.float16)


def attended_power_mean(states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    """(N, L, D), (N, L), p, (N, L) -> (N, D), at least in float32. The norm p is (), (N, 1) or (D,).

    Rows with nothing real give zeros. The clip has no gradient at 0 and 1 themselves.
    """
    if fusable(states, weights, norm):
        if is_stacked(states, weights, norm):
            return stacked(stacked_power_mean, states, weights, norm, mask)
        from regard.kernels.fused_power_mean import fused_power_mean  # Triton comes with CUDA builds of PyTorch alone

        return fused_power_mean(states, weights, norm, mask)
    # unlike clamp it has no gradient at 0 itself, where a weight that underflowed stands beside a huge state
    scaled = functional.hardtanh(weights.unsqueeze(-1) * at_least_float32(states), 0, 1)  # (N, L, D)
    return power_mean(scaled, weights, norm, mask)


def stacked_power_mean(states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    """Of several models, their axis in front: to the kernel they are more texts, each with a norm of its own."""
    from regard.kernels.fused_power_mean import fused_power_mean

    models, rows = states.shape[:2]
    if norm.ndim == 2:  # one a feature: the kernel has one such norm for all its texts
        each = [fused_power_mean(*given) for given in zip(states, weights, norm, mask, strict=True)]
        return torch.stack(each)
    norms = norm.view(models, -1, 1).expand(models, rows, 1)
    flat = (value.flatten(0, 1) for value in (states, weights, norms, mask))
    return fused_power_mean(*flat).view(models, rows, -1)


def fusable(states: Tensor, weights: Tensor, norm: Tensor) -> bool:
    return (
        states.is_cuda
        and states.dtype in FUSABLE
        and weights.dtype == norm.dtype == torch.float32
        and states.numel() > 0
        and triton_is_there()
    )


@cache
def triton_is_there() -> bool:
    return torch.version.cuda is not None and find_spec("triton") is not None
