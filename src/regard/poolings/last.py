"""The state at the last word; in bidirectional states, each half where its direction ends."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

from regard.config import Model
from regard.masking import at_least_float32, fill
from regard.poolings.pooling import Pooling, checked
from regard.values import Pooled


class Last(Pooling):
    """The state at the last word.

    Parameters
    ----------
    directions : int
        With 2, the second half of a state was read from right to left, so it ends at the first word.
    """

    def __init__(self, directions: int = 1):
        super().__init__()
        self.directions = directions

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        return cls(directions)

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        states, nonempty = at_least_float32(states), mask.any(1)
        so_far = mask.cumsum(1)  # (N, L) real tokens so far, wherever the padding is
        end = (mask & (so_far == mask.sum(1, keepdim=True))).to(states.dtype)  # one-hot, all zero for an empty row
        half = states.size(-1) // self.directions
        rightwards = fill(states[..., :half], end > 0).sum(1)  # not a product: 0 × NaN on padding would be NaN
        if self.directions == 1:
            return Pooled(fill(rightwards, nonempty), end, end)
        start = (mask & (so_far == 1)).to(states.dtype)
        leftwards = fill(states[..., half:], start > 0).sum(1)
        weights = (start + end) / 2
        return Pooled(fill(torch.cat((rightwards, leftwards), -1), nonempty), weights, weights)
