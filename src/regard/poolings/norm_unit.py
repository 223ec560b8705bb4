"""The learned-norm unit (Gulcehre et al. 2014):  u_j = ( mean_i |h_ij − c_j|^p_j )^(1/p_j),  p_j = 1 + log(1 + exp(ρ_j)).

Choices: the unit was defined for a fixed number of inputs, each with a centre; texts vary in length, so here there is one
centre per feature. The weight of a word is its share of the sum under the root, averaged over the features.
"""

from __future__ import annotations

import math
from typing import Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.errors import InputError
from regard.kernels.power_mean import EPSILON
from regard.masking import at_least_float32, masked_logsumexp
from regard.poolings.pooling import Pooling, checked
from regard.values import Pooled


class NormUnit(Pooling):
    """A power mean around a learned centre, with one learned norm p > 1 per feature.

    Parameters
    ----------
    dim : int
        Width of the states.
    norm_init : float
        Initial p, above 1.
    """

    has_norm = True
    options = ("norm_init",)
    norm_parameters = ("rho",)

    def __init__(self, dim: int, norm_init: float = 2.0):
        super().__init__()
        self.rho = nn.Parameter(torch.full((dim,), initial_rho(norm_init)))
        self.centre = nn.Parameter(torch.zeros(dim))

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        return cls(dim, 2.0 if config.norm_init is None else config.norm_init)

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        norm = norm_of(self.rho)  # (D,)
        real = mask.unsqueeze(-1)
        powers, total, vector = power_mean_of_distances(states, self.centre, norm, mask)
        shares = (powers - total.unsqueeze(1)).exp().masked_fill(~real, 0)  # (N, L, D), each feature sums to 1
        weights = shares.mean(-1)
        return Pooled(vector, weights, weights, norm=norm)


def initial_rho(norm_init: float) -> float:
    """The ρ that gives this p."""
    if not 1 < norm_init < math.inf:
        raise InputError(
            f"norm_init: expected a finite number above 1, since a norm_unit's p is 1 + log(1 + exp(ρ)), got {norm_init:g}"
        )
    norm_init = float(norm_init)  # a whole number would give parameters without gradients
    return math.log(math.expm1(norm_init - 1)) if norm_init < 20 else norm_init - 1


def norm_of(rho: Tensor) -> Tensor:
    return 1 + nn.functional.softplus(rho)


def power_mean_of_distances(
    states: Tensor, centre: Tensor, norm: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """( mean_i |h_i − c|^p )^(1/p), zero for an empty row, and what it was computed from.

    (N, L, D), (D,) or (L, D), (D,), (N, L) -> the logarithms of the powers (N, L, D), that of their sum (N, D), the mean (N, D)
    """
    real = mask.unsqueeze(-1)
    distance = (at_least_float32(states) - centre).abs().masked_fill(~real, 0)
    powers = norm * (distance + EPSILON).log()  # (N, L, D)
    total = masked_logsumexp(powers, real, dim=1)  # (N, D)
    count = mask.sum(1, keepdim=True).clamp_min(1).log()
    return powers, total, ((total - count) / norm).exp().masked_fill(~mask.any(1, keepdim=True), 0)
