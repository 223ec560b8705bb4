"""No encoder: the states are the word vectors (Sun & Lu's DP and AD models)."""

from __future__ import annotations

from typing import Self

from torch import Tensor

from regard.config import Model
from regard.encoders.encoder import Encoder
from regard.masking import fill
from regard.values import Encoded


class Embedding(Encoder):
    def __init__(self, width: int):
        super().__init__()
        self.dim = width

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        return Encoded(fill(embedded, mask))
