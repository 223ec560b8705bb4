"""What every encoder is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from torch import Tensor, nn

from regard.config import Model
from regard.values import Encoded


class Encoder(nn.Module, ABC):
    """Reads rows of vectors in context. `dim` is the width of its states."""

    dim: int
    directions: ClassVar[int] = 1  # 2 where the second half of a state was read from right to left
    summarises: ClassVar[bool] = False  # whether a summary of each row comes with its states

    @classmethod
    @abstractmethod
    def configured(cls, width: int, config: Model) -> Self:
        """Make one for vectors of this width, from the options of a model."""

    @abstractmethod
    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        """(N, L, E), (N, L) -> states (N, L, D), zero on padding, and perhaps a summary (N, D)."""
