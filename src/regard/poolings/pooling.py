"""What every pooling is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from torch import Tensor, nn

from regard.config import Model
from regard.values import Pooled


class Pooling(nn.Module, ABC):
    """Pools the token axis away; the vector is as wide as the states."""

    reads_summary: ClassVar[bool] = False  # whether it takes the encoder's summary as a third argument
    compresses = False  # whether a second vector leaves it, `Pooled.compressed`, which wants a head of its own

    @classmethod
    @abstractmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        """Make one for states of this width, read in this many directions, from the options of a model."""

    @abstractmethod
    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        """(N, L, D), (N, L) -> Pooled"""
