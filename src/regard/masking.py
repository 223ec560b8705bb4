"""All arithmetic on padding. A mask is True on real tokens, and real tokens come first on their axis."""

from __future__ import annotations

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the real positions of the last axis. Padding gets exactly 0, as does a row without real positions."""
    lowered = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return lowered.softmax(-1) * mask


def masked_logsumexp(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """log Σ exp over the real positions of an axis. A row without any gives 0, a placeholder for the caller to drop."""
    lowered = values.masked_fill(~mask, torch.finfo(values.dtype).min)
    nonempty = mask.any(dim)
    return torch.where(nonempty, lowered.logsumexp(dim), torch.zeros_like(nonempty, dtype=values.dtype))


def fill(values: Tensor, mask: Tensor) -> Tensor:
    """Set padding to zero. A mask with one axis fewer than the values covers whole vectors."""
    return values.masked_fill(~(mask if mask.ndim == values.ndim else mask.unsqueeze(-1)), 0)


def uniform(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """1/n on the n real positions of each row."""
    return mask.to(dtype) / mask.sum(-1, keepdim=True).clamp_min(1)


def reverse(values: Tensor, mask: Tensor) -> Tensor:
    """Reverse the real part of each row; padding stays at the end.  (N, L, …), (N, L) -> (N, L, …)"""
    positions = torch.arange(mask.size(1), device=mask.device)
    lengths = mask.sum(1, keepdim=True)
    index = torch.where(positions < lengths, lengths - 1 - positions, positions)  # (N, L)
    return values.gather(1, index.unsqueeze(-1).expand_as(values))


def at_least_float32(values: Tensor) -> Tensor:
    """Convert half-precision values to float32; leave float32 and float64 unchanged."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values


def limit_magnitude(values: Tensor) -> Tensor:
    """Clamp values far enough below the largest float that a sum of their products cannot become inf − inf."""
    limit = min(1e30, torch.finfo(values.dtype).max)
    return values.clamp(-limit, limit)


def weighted_sum(weights: Tensor, states: Tensor) -> Tensor:
    """Σ_i w_i h_i, in float32 even under autocast: weights whose rounded sum exceeds 1 overflow fp16.  -> (N, D)"""
    with torch.autocast(states.device.type, enabled=False):
        return (weights.unsqueeze(1) @ at_least_float32(states)).squeeze(1)
