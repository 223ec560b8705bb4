"""r_j = max_i h_ij. The weight of a word is its share of the sum of the winning elements (APLN, footnote of Figure 1).

Choices: a winning element below zero counts as zero; if none is above zero, weights are shares of the
number of wins; words that tie for a feature share it, so that the order of the words does not matter.
"""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

from regard.config import Model
from regard.masking import at_least_float32, limit_magnitude
from regard.poolings.pooling import Pooling, checked
from regard.values import Pooled


class Maximum(Pooling):
    """The maximum of the states, per feature."""

    has_ties = True

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        return cls()

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        states = at_least_float32(states)
        nonempty = mask.any(1, keepdim=True)  # (N, 1)
        lowered = states.masked_fill(~mask.unsqueeze(-1), torch.finfo(states.dtype).min)
        vector = (lowered.amax(1) if mask.size(1) else lowered.sum(1)).masked_fill(~nonempty, 0)  # (N, D)
        won = (lowered == vector.unsqueeze(1)) & mask.unsqueeze(-1)  # (N, L, D)
        share = won / won.sum(1, keepdim=True).clamp_min(1)
        height = limit_magnitude(vector.detach()).clamp_min(0).unsqueeze(1)
        scores = (share * height).sum(-1)  # (N, L)
        heights = scores.sum(-1, keepdim=True)
        tiny = torch.finfo(states.dtype).tiny
        weights = torch.where(heights > tiny, scores / heights.clamp_min(tiny), share.mean(-1))
        return Pooled(vector, weights, scores)
