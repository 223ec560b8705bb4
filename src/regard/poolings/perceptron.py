"""A perceptron with one hidden layer: out(tanh(W x + b)). The hidden layer is as wide as the input.

Choice: tanh keeps the output bounded, however large the states are.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Perceptron(nn.Module):
    def __init__(self, dim: int, outputs: int, bias: bool = True):
        super().__init__()
        self.hidden = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, outputs, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        output: Tensor = self.out(torch.tanh(self.hidden(x)))  # (…, outputs)
        return output
