"""GRUs (Cho et al. 2014) in one direction, or in two: HAN's encoder of words and of sentences (Yang et al. 2016).

    r, z = σ(W x_t + U h_{t−1} + b),   n = tanh(W_n x_t + b_n + r (U_n h_{t−1} + c_n)),   h_t = (1 − z) n + z h_{t−1}

Choices: PyTorch's unit, which has a second bias c_n inside the reset, and whose z is 1 − z of HAN's equation 1.
"""

from __future__ import annotations

from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.encoders.directions import half_width, read_both_ways
from regard.encoders.encoder import Encoder
from regard.kernels.onnx_recurrence import onnx_gru
from regard.kernels.recurrence import stacked_gru
from regard.kernels.stacking import is_stacked, stacked
from regard.masking import fill
from regard.values import Encoded

WEIGHTS = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


class GRU(Encoder):
    def __init__(self, width: int, dim: int):
        super().__init__()
        self.dim = dim
        self.forwards = nn.GRU(width, dim, batch_first=True)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        return Encoded(fill(run_gru(self.forwards, embedded), mask))


class BiGRU(Encoder):
    directions: ClassVar[int] = 2

    def __init__(self, width: int, dim: int):
        super().__init__()
        half = half_width(dim, "bigru")
        self.dim = dim
        self.forwards = nn.GRU(width, half, batch_first=True)
        self.backwards = nn.GRU(width, half, batch_first=True)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        return read_both_ways(lambda x: run_gru(self.forwards, x), lambda x: run_gru(self.backwards, x), embedded, mask)


def run_gru(gru: nn.GRU, x: Tensor) -> Tensor:
    """The states of all steps; for several models at once if their weights are stacked.  (N, L, E) -> (N, L, D)"""
    weights = [getattr(gru, name) for name in WEIGHTS]
    if is_stacked(x, *weights):
        return stacked(stacked_gru, x, *weights)
    if torch.onnx.is_in_onnx_export():
        return onnx_gru(x, weights)
    states: Tensor = gru(x)[0]
    return states
