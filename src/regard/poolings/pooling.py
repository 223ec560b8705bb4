"""What every pooling is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.errors import InputError
from regard.masking import fill, weighted_sum
from regard.values import Pooled


class Pooling(nn.Module, ABC):
    """Pools the token axis away; the vector is as wide as the states."""

    reads_summary: ClassVar[bool] = False  # whether it takes the encoder's summary as a third argument
    compresses = False  # whether a second vector leaves it, `Pooled.compressed`, which wants a head of its own

    @classmethod
    @abstractmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        """Make one for states of this width, read in this many directions, from the options of a model."""

    @abstractmethod
    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        """(N, L, D), (N, L) -> Pooled"""


def checked(states: Tensor, mask: Tensor) -> Tensor:
    """The mask as bool; what else a pooling is given is refused. Only shapes and types are looked at: no wait for a GPU."""
    if not isinstance(mask, Tensor):
        raise InputError(f"mask = {mask!r}: a tensor (N, L) is accepted, all True where nothing is padding")
    if not states.is_floating_point():
        raise InputError(f"states of {states.dtype}: floating-point numbers are accepted")
    if states.ndim != 3 or mask.shape != states.shape[:2]:
        raise InputError(
            f"states {tuple(states.shape)} and mask {tuple(mask.shape)}: accepted are states (N, L, D) and a mask (N, L); "
            "axes before these are flattened into N, and what is pooled is folded back"
        )
    if mask.dtype == torch.bool:
        return mask
    if mask.is_floating_point() or mask.is_complex():
        raise InputError(f"mask of {mask.dtype}: bool is accepted, True on real tokens, or integers, 0 on padding")
    return mask.bool()


def attended(weights: Tensor, states: Tensor, mask: Tensor) -> Tensor:
    """Σ_i w_i h_i; zeros of a row without a real token, even if what stands there is no number.  -> (N, D)"""
    return fill(weighted_sum(weights, states), mask.any(1))
