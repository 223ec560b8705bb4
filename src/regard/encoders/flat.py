"""The encoders of flat models, which read each word alone: h = e, the word vector itself (Sun & Lu's DP and AD), or h = M e,
one linear map per word without a bias (their DP-A)."""

from __future__ import annotations

from typing import Self

from torch import Tensor, nn

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


class Affine(Encoder):
    def __init__(self, width: int, dim: int):
        super().__init__()
        self.dim = dim
        self.map = nn.Linear(width, dim, bias=False)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        return Encoded(fill(self.map(embedded), mask))
