"""Two one-way LSTMs, the second over the text turned around (APLN's "LSTM": two directions of 200, concatenated).

The turning knows each text's length. Packed sequences would do the same, but force a wait for the CPU and stand in the
way of CUDA graphs, stacked seeds and ONNX.
"""

from __future__ import annotations

from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.encoders.encoder import Encoder
from regard.errors import InputError
from regard.masking import fill, reverse


class BiLSTM(Encoder):
    directions: ClassVar[int] = 2

    def __init__(self, width: int, dim: int):
        super().__init__()
        if dim % 2:
            raise InputError(f"hidden = {dim} cannot be halved for the two directions of a bilstm; give an even number")
        self.dim = dim
        self.forwards = nn.LSTM(width, dim // 2, batch_first=True)
        self.backwards = nn.LSTM(width, dim // 2, batch_first=True)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        rightwards = self.forwards(embedded)[0]  # (N, L, D/2)
        leftwards = reverse(self.backwards(reverse(embedded, mask))[0], mask)  # (N, L, D/2)
        return fill(torch.cat((rightwards, leftwards), -1), mask)
