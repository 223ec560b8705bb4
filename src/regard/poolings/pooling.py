"""What every pooling is, and what it declares about itself.

Explainers, audit, optimiser and pages ask a pooling what it can do; none of them knows a pooling by its name or type. A new
pooling therefore needs no changes there: it sets the class attributes below and, if it attends, defines `mix`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.errors import InputError
from regard.masking import fill, masked_softmax, weighted_sum
from regard.poolings.scorer import Scorer
from regard.values import Pooled


class Pooling(nn.Module, ABC):
    """Pools the token axis away; the vector is as wide as the states."""

    attends: ClassVar[bool] = (
        False  # has attention weights α = softmax(Pooled.scores); `mix` accepts others in their place
    )
    has_norm: ClassVar[bool] = (
        False  # has a learned norm p, `Pooled.norm`; if it attends, p sharpens α into Pooled.weights
    )
    is_linear: ClassVar[bool] = False  # the vector is Σ weight × state, so a linear head is linear in the weights
    compresses: ClassVar[bool] = False  # gives a second vector, `Pooled.compressed`, which needs its own head
    reads_summary: ClassVar[bool] = False  # takes the encoder's summary as a third argument
    options: ClassVar[tuple[str, ...]] = ()  # the fields of `config.Model` that `configured` reads
    norm_parameters: ClassVar[tuple[str, ...]] = ()  # parameters behind the norm: `norm_lr` scales their learning rate

    @classmethod
    @abstractmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        """Make one for states of this width, read in this many directions, from the options of a model."""

    @abstractmethod
    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        """(N, L, D), (N, L) -> Pooled"""

    def mix(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        """The vector with these weights in place of α: (N, L, D), (N, L), (N, L) -> (N, D). Every pooling that attends
        defines it; with its own α it gives its own vector."""
        raise InputError(
            f"{type(self).__name__}: expected a pooling with attention; this one cannot take other weights"
        )

    def attention(self, pooled: Pooled, mask: Tensor) -> Tensor:
        """The weights before a norm sharpens them: α, or the drawn weights of a pooling without attention.  (…, L)"""
        return masked_softmax(pooled.scores, mask) if self.attends and self.has_norm else pooled.weights

    def redraw_attention(self, bound: float) -> None:
        """Draw the parameters behind the attention scores again, as at the start of training."""
        scorers = [module for module in self.modules() if isinstance(module, Scorer)]
        if not scorers:
            raise InputError(
                f"{type(self).__name__}: expected attention scores from a Scorer, found none to draw again"
            )
        for scorer in scorers:
            scorer.redraw(bound)


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
