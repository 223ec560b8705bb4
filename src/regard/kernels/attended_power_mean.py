"""Power mean of attention-weighted states, clip(α h, 0, 1), with a plain and a fused implementation.

The plain one needs (N, L, D) intermediates, runs anywhere in any precision, and can be differentiated twice. The fused one
reads the states once; it is chosen automatically on CUDA with Triton.
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
    """(N, L, D), (N, L), p, (N, L) -> (N, D), in float32 or wider. The norm p is (), (N, 1) or (D,).

    Rows without real tokens give zeros. The gradient of the clip is 0 at exactly 0 and 1.
    """
    if fusable(states, weights, norm):
        if is_stacked(states, weights, norm):
            return stacked(stacked_power_mean, states, weights, norm, mask)
        from regard.kernels.fused_power_mean import fused_power_mean  # Triton comes only with CUDA builds of PyTorch

        return fused_power_mean(states, weights, norm, mask)
    # unlike clamp, no gradient at exactly 0, where an underflowed weight may meet a huge state
    scaled = functional.hardtanh(weights.unsqueeze(-1) * at_least_float32(states), 0, 1)  # (N, L, D)
    return power_mean(scaled, weights, norm, mask)


def stacked_power_mean(states: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    """For several stacked models (first axis): the kernel sees them as more texts, each with its norm."""
    from regard.kernels.fused_power_mean import fused_power_mean

    models, rows = states.shape[:2]
    if norm.ndim == 2:  # one norm per feature: the kernel shares it among all texts
        each = [fused_power_mean(*inputs) for inputs in zip(states, weights, norm, mask, strict=True)]
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
        and has_triton()
    )


@cache
def has_triton() -> bool:
    return torch.version.cuda is not None and find_spec("triton") is not None
