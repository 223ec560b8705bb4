"""The interface of encoders."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from torch import Tensor, nn

from regard.config import Model
from regard.values import Encoded


class Encoder(nn.Module, ABC):
    """Turns rows of vectors into contextual states of width `dim`."""

    dim: int
    directions: ClassVar[int] = 1  # 2 if the second half of each state is read from right to left
    summarises: ClassVar[bool] = False  # whether it returns a summary of each row with the states

    @classmethod
    @abstractmethod
    def configured(cls, width: int, config: Model) -> Self:
        """Build one for input vectors of this width, from the options of a model."""

    @abstractmethod
    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        """(N, L, E), (N, L) -> states (N, L, D), zero on padding, and a summary (N, D) if it summarises."""
