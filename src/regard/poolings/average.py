"""r = (1/N) Σ h_i. Every word has the same weight."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

from regard.config import Model
from regard.masking import at_least_float32, uniform
from regard.poolings.pooling import Pooling, attended, checked
from regard.values import Pooled


class Average(Pooling):
    """The mean of the states."""

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        return cls()

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        weights = uniform(mask, at_least_float32(states).dtype)
        return Pooled(attended(weights, states, mask), weights, torch.zeros_like(weights))
