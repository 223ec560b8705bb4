"""Convolution over windows of words, ReLU (APLN's CNN: 400 filters of window 3; Kim 2014: 100 each of windows 3, 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.encoders.encoder import Encoder
from regard.errors import InputError
from regard.kernels.stacking import is_stacked, stacked, stacked_convolution
from regard.masking import fill
from regard.values import Encoded


class CNN(Encoder):
    def __init__(self, width: int, dim: int, windows: Sequence[int] = (3,)):
        super().__init__()
        if dim % len(windows):
            raise InputError(
                f"hidden: expected a multiple of {len(windows)}, the number of windows {list(windows)}, got {dim}"
            )
        self.dim, self.sizes = dim, tuple(windows)
        self.windows = nn.ModuleList(nn.Conv1d(width, dim // len(windows), size) for size in windows)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden, config.windows)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        rows = fill(embedded, mask).mT  # (N, E, L), zeros after the text
        pairs = zip(self.windows, self.sizes, strict=True)
        filtered = [convolve(conv, nn.functional.pad(rows, padding(size))) for conv, size in pairs]
        return Encoded(fill(torch.relu(torch.cat(filtered, 1)).mT, mask))  # (N, L, D)


def convolve(conv: nn.Module, rows: Tensor) -> Tensor:
    """(N, E, L + size − 1) -> (N, D, L); for several models at once if their weights are stacked."""
    assert isinstance(conv, nn.Conv1d)
    if is_stacked(rows, conv.weight):
        assert conv.bias is not None
        return stacked(stacked_convolution, rows, conv.weight, conv.bias)
    filtered: Tensor = conv(rows)
    return filtered


def padding(size: int) -> tuple[int, int]:
    """Zeros on both sides, so that every word has a window; an even window extends further to the right."""
    return (size - 1) // 2, size // 2
