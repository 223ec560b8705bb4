"""The only place that knows padding arithmetic. A mask is True on real tokens, and they come first on their axis."""

from __future__ import annotations

import torch
from torch import Tensor


def masked_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis among real places. Padding gets exactly 0, and so does a row with nothing real."""
    lowered = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return lowered.softmax(-1) * mask


def masked_logsumexp(values: Tensor, mask: Tensor, dim: int) -> Tensor:
    """log Σ exp over the real places of an axis. A row with nothing real gives 0: its result is to be dropped."""
    lowered = values.masked_fill(~mask, torch.finfo(values.dtype).min)
    some = mask.any(dim)
    return torch.where(some, lowered.logsumexp(dim), torch.zeros_like(some, dtype=values.dtype))


def fill(values: Tensor, mask: Tensor) -> Tensor:
    """Zero on padding. A mask with one axis fewer than the values covers whole vectors."""
    return values.masked_fill(~(mask if mask.ndim == values.ndim else mask.unsqueeze(-1)), 0)


def uniform(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """1/n on the n real places of each row."""
    return mask.to(dtype) / mask.sum(-1, keepdim=True).clamp_min(1)


def reverse(values: Tensor, mask: Tensor) -> Tensor:
    """Turn the real part of each row around; padding stays behind it.  (N, L, …), (N, L) -> (N, L, …)"""
    places = torch.arange(mask.size(1), device=mask.device)
    lengths = mask.sum(1, keepdim=True)
    index = torch.where(places < lengths, lengths - 1 - places, places)  # (N, L)
    return values.gather(1, index.unsqueeze(-1).expand_as(values))


def at_least_float32(values: Tensor) -> Tensor:
    """Half-precision values in float32; float32 and float64 as they are."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values


def within_reach(values: Tensor) -> Tensor:
    """Values held so far from the end of the range that a sum of their products cannot become inf − inf."""
    far = min(1e30, torch.finfo(values.dtype).max)
    return values.clamp(-far, far)


def weighted_sum(weights: Tensor, states: Tensor) -> Tensor:
    """Σ_i w_i h_i, in float32 also inside autocast: a sum of weights rounded above 1 overflows fp16.  -> (N, D)"""
    with torch.autocast(states.device.type, enabled=False):
        return (weights.unsqueeze(1) @ at_least_float32(states)).squeeze(1)
