"""What every encoder is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from torch import Tensor, nn

from regard.config import Model


class Encoder(nn.Module, ABC):
    """Reads rows of vectors in context. `dim` is the width of its states."""

    dim: int
    directions: ClassVar[int] = 1  # 2 where the second half of a state was read from right to left

    @classmethod
    @abstractmethod
    def configured(cls, width: int, config: Model) -> Self:
        """Make one for vectors of this width, from the options of a model."""

    @abstractmethod
    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """(N, L, E), (N, L) -> (N, L, D), zero on padding."""
