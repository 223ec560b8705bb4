"""Two one-way LSTMs, the second over the text turned around (APLN's "LSTM": two directions of 200, concatenated).

The turning knows each text's length. Packed sequences would do the same, but force a wait for the CPU and stand in the
way of CUDA graphs, stacked seeds and ONNX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.encoders.encoder import Encoder
from regard.encoders.lstm import read
from regard.errors import InputError
from regard.masking import fill, reverse
from regard.values import Encoded


class BiLSTM(Encoder):
    directions: ClassVar[int] = 2

    def __init__(self, width: int, dim: int):
        super().__init__()
        if dim % 2:
            raise InputError(f"hidden = {dim} cannot be halved for the two directions of a bilstm; give an even number")
        self.dim = dim
        self.forwards = nn.LSTM(width, dim // 2, batch_first=True)
        self.backwards = nn.LSTM(width, dim // 2, batch_first=True)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        rightwards, leftwards = side_by_side(  # (N, L, D/2) each
            lambda: read(self.forwards, embedded),
            lambda: turned(read(self.backwards, turned(embedded, mask)), mask),
        )
        return Encoded(fill(torch.cat((rightwards, leftwards), -1), mask))


class Turned(torch.autograd.Function):
    """`reverse` undoes itself, so it is also its own way back; autograd would sort a million places there on CUDA."""

    generate_vmap_rule = True

    @staticmethod
    def forward(values: Tensor, mask: Tensor) -> Tensor:
        return reverse(values, mask)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, None]:
        return turned(given, *ctx.saved_tensors), None


def turned(values: Tensor, mask: Tensor) -> Tensor:
    """`reverse`, with that way back on CUDA."""
    if not values.is_cuda:
        return reverse(values, mask)
    found: Tensor = Turned.apply(values, mask)  # type: ignore[no-untyped-call]
    return found


def side_by_side(first: Callable[[], Tensor], second: Callable[[], Tensor]) -> tuple[Tensor, Tensor]:
    """Both results. In a CUDA graph the two run at the same time, also on the way back; elsewhere launches take longer."""
    if not (torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()):
        return first(), second()
    here, beside = torch.cuda.current_stream(), torch.cuda.Stream(priority=-1)
    beside.wait_stream(here)
    try:
        with torch.cuda.stream(beside):
            right = second()
        left = first()
    finally:  # a capture that ends with a stream astray tells of that alone, and not of what went wrong
        here.wait_stream(beside)
    return left, right
