"""The base class of poolings, and what each pooling declares about itself.

Explainers, audit, optimizer and pages ask a pooling what it can do; none of them depends on its name or type. A new pooling
therefore needs no changes there: it sets the class attributes below and, if it attends, defines `mix`.
"""

from __future__ import annotations

import math
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
    """Reduces the token axis to one vector, which is as wide as the states."""

    attends: ClassVar[bool] = False  # has attention weights α = softmax(Pooled.scores); `mix` accepts other weights
    has_norm: ClassVar[bool] = False  # has a learned norm p, `Pooled.norm`; if it attends, Pooled.weights are α^p
    is_linear: ClassVar[bool] = False  # the vector is Σ weight × state, so a linear head is linear in the weights
    compresses: ClassVar[bool] = False  # returns a second vector, `Pooled.compressed`, for a separate head
    has_ties: ClassVar[bool] = False  # the largest state takes all the weight, so rounding decides between equal ones
    reads_summary: ClassVar[bool] = False  # takes the encoder's summary as a third argument
    options: ClassVar[tuple[str, ...]] = ()  # the fields of `config.Model` that `configured` reads
    norm_parameters: ClassVar[tuple[str, ...]] = ()  # parameters behind the norm: `norm_lr` scales their learning rate

    @classmethod
    @abstractmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        """Build one from a model's options, for states of width `dim` that were read in `directions` directions."""

    @abstractmethod
    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        """(N, L, D), (N, L) -> Pooled"""

    def mix(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        """The vector with these weights in place of α: (N, L, D), (N, L), (N, L) -> (N, D). Every pooling that attends
        defines it; with α itself it must return the vector of `forward`."""
        raise InputError(
            f"{type(self).__name__}: expected a pooling with attention; this one cannot take other weights"
        )

    def attention(self, pooled: Pooled, mask: Tensor) -> Tensor:
        """The weights before a norm sharpens them: α, or `Pooled.weights` of a pooling without attention.  (…, L)"""
        return masked_softmax(pooled.scores, mask) if self.attends and self.has_norm else pooled.weights

    def redraw_attention(self, bound: float) -> None:
        """Initialise the parameters of the attention scores again, as at the start of training."""
        scorers = [module for module in self.modules() if isinstance(module, Scorer)]
        if not scorers:
            raise InputError(f"{type(self).__name__}: expected a Scorer to initialise again, got a pooling without one")
        for scorer in scorers:
            scorer.redraw(bound)


def checked(states: Tensor, mask: Tensor) -> Tensor:
    """The mask as bool, or an InputError. Looks only at shapes and types, so that it never waits for a GPU."""
    if not isinstance(mask, Tensor):
        raise InputError(f"mask: expected a tensor (N, L), all True if there is no padding, got {mask!r}")
    if not states.is_floating_point():
        raise InputError(f"states: expected floating-point numbers, got {states.dtype}")
    if states.ndim != 3 or mask.shape != states.shape[:2]:
        raise InputError(
            f"expected states (N, L, D) and a mask (N, L), got states {tuple(states.shape)} and mask {tuple(mask.shape)}; "
            "flatten further leading axes into N"
        )
    if mask.dtype == torch.bool:
        return mask
    if mask.is_floating_point() or mask.is_complex():
        raise InputError(f"mask: expected bool (True: a real token) or integers (0: padding), got {mask.dtype}")
    return mask.bool()


def attended(weights: Tensor, states: Tensor, mask: Tensor) -> Tensor:
    """Σ_i w_i h_i; zeros for a row without real tokens, even if its states are NaN.  -> (N, D)

    States on padding should be finite, because 0 × NaN is NaN. Setting them to 0 every time would take longer than the sum
    (benchmarks/padding.py); on the CPU, where looking at a result is cheap, it is done if the sum shows that it is needed.
    """
    vector = weighted_sum(weights, states)
    if can_look(vector) and not math.isfinite(vector.detach().sum().item()):
        vector = weighted_sum(weights, fill(states, mask))
    return fill(vector, mask.any(1))


def can_look(values: Tensor) -> bool:
    """Whether the program may depend on the values: on a GPU it would wait for them, and a traced program has none."""
    return values.device.type == "cpu" and not (
        torch.compiler.is_compiling()
        or torch.onnx.is_in_onnx_export()
        or torch._C._functorch.is_functorch_wrapped_tensor(values)  # by `torch.func.vmap`, or `grad` inside of it
    )
