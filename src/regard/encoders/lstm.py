"""A unidirectional LSTM. Padding comes after the text and cannot affect real states, so no packing is needed."""

from __future__ import annotations

from typing import Self

from torch import Tensor, nn

from regard.config import Model
from regard.encoders.encoder import Encoder
from regard.kernels.recurrence import stacked_lstm
from regard.kernels.stacking import is_stacked, stacked
from regard.masking import fill
from regard.values import Encoded


class LSTM(Encoder):
    def __init__(self, width: int, dim: int):
        super().__init__()
        self.dim = dim
        self.forwards = nn.LSTM(width, dim, batch_first=True)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        return Encoded(fill(run_lstm(self.forwards, embedded), mask))


def run_lstm(lstm: nn.LSTM, x: Tensor) -> Tensor:
    """The states of all steps; for several models at once if their weights are stacked.  (N, L, E) -> (N, L, D)"""
    weights = [getattr(lstm, name) for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")]
    if is_stacked(x, *weights):
        return stacked(stacked_lstm, x, *weights)
    states: Tensor = lstm(x)[0]
    return states
