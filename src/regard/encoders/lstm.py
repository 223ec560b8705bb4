"""LSTMs in one direction, or in two: the second over the reversed text (APLN's "LSTM": two directions of 200, concatenated)."""

from __future__ import annotations

from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.encoders.directions import half_width, read_both_ways
from regard.encoders.encoder import Encoder
from regard.kernels.onnx_recurrence import onnx_lstm
from regard.kernels.recurrence import stacked_lstm
from regard.kernels.stacking import is_stacked, stacked
from regard.masking import fill
from regard.values import Encoded

WEIGHTS = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


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


class BiLSTM(Encoder):
    directions: ClassVar[int] = 2

    def __init__(self, width: int, dim: int):
        super().__init__()
        half = half_width(dim, "bilstm")
        self.dim = dim
        self.forwards = nn.LSTM(width, half, batch_first=True)
        self.backwards = nn.LSTM(width, half, batch_first=True)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        return read_both_ways(
            lambda x: run_lstm(self.forwards, x), lambda x: run_lstm(self.backwards, x), embedded, mask
        )


def run_lstm(lstm: nn.LSTM, x: Tensor) -> Tensor:
    """The states of all steps; for several models at once if their weights are stacked.  (N, L, E) -> (N, L, D)"""
    weights = [getattr(lstm, name) for name in WEIGHTS]
    if is_stacked(x, *weights):
        return stacked(stacked_lstm, x, *weights)
    if torch.onnx.is_in_onnx_export():
        return onnx_lstm(x, weights)
    states: Tensor = lstm(x)[0]
    return states
