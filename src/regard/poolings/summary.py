"""r = the encoder's summary of the whole row, such as BERT's [CLS]. Words have no individual weights, so all are equal."""

from __future__ import annotations

from typing import Self

import torch
from torch import Tensor

from regard.config import Model
from regard.masking import at_least_float32, fill, uniform
from regard.poolings.pooling import Pooling, attended, checked
from regard.values import Pooled


class Summary(Pooling):
    """The encoder's summary of the row. Without an encoder that returns one, it is the mean of the states."""

    reads_summary = True

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        return cls()

    def forward(self, states: Tensor, mask: Tensor, summary: Tensor | None = None) -> Pooled:
        mask = checked(states, mask)
        weights = uniform(mask, at_least_float32(states).dtype)
        vector = attended(weights, states, mask) if summary is None else fill(at_least_float32(summary), mask.any(1))
        return Pooled(vector, weights, torch.zeros_like(weights))
