"""A one-way LSTM. Padding comes after the text, so it cannot reach a real state, and no packing is needed."""

from __future__ import annotations

from typing import Self

from torch import Tensor, nn

from regard.config import Model
from regard.encoders.encoder import Encoder
from regard.masking import fill


class LSTM(Encoder):
    def __init__(self, width: int, dim: int):
        super().__init__()
        self.dim = dim
        self.forwards = nn.LSTM(width, dim, batch_first=True)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        states: Tensor = self.forwards(embedded)[0]
        return fill(states, mask)
