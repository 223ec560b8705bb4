"""LSTMs in one direction, or in two: the second over the reversed text (APLN's "LSTM": two directions of 200, concatenated).

Padding comes after the text and cannot affect the states of a forward pass. The reversal respects the length of each text.
Packed sequences would do the same, but force a synchronisation with the CPU and prevent CUDA graphs, stacked seeds and ONNX
export.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.encoders.encoder import Encoder
from regard.errors import InputError
from regard.kernels.onnx_lstm import onnx_lstm
from regard.kernels.recurrence import stacked_lstm
from regard.kernels.stacking import is_stacked, stacked
from regard.masking import fill, reverse
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


class BiLSTM(Encoder):
    directions: ClassVar[int] = 2

    def __init__(self, width: int, dim: int):
        super().__init__()
        if dim % 2:
            raise InputError(f"hidden: expected an even number for the two directions of a bilstm, got {dim}")
        self.dim = dim
        self.forwards = nn.LSTM(width, dim // 2, batch_first=True)
        self.backwards = nn.LSTM(width, dim // 2, batch_first=True)

    @classmethod
    def configured(cls, width: int, config: Model) -> Self:
        return cls(width, config.hidden)

    def forward(self, embedded: Tensor, mask: Tensor) -> Encoded:
        left_to_right, right_to_left = run_in_parallel(  # (N, L, D/2) each
            lambda: run_lstm(self.forwards, embedded),
            lambda: reverse_rows(run_lstm(self.backwards, reverse_rows(embedded, mask)), mask),
        )
        return Encoded(fill(torch.cat((left_to_right, right_to_left), -1), mask))


def run_lstm(lstm: nn.LSTM, x: Tensor) -> Tensor:
    """The states of all steps; for several models at once if their weights are stacked.  (N, L, E) -> (N, L, D)"""
    weights = [getattr(lstm, name) for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")]
    if is_stacked(x, *weights):
        return stacked(stacked_lstm, x, *weights)
    if torch.onnx.is_in_onnx_export():
        return onnx_lstm(x, weights)
    states: Tensor = lstm(x)[0]
    return states


class ReverseRows(torch.autograd.Function):
    """`reverse` is its own inverse, so it is also its own backward pass; autograd would sort a million positions on CUDA."""

    generate_vmap_rule = True

    @staticmethod
    def forward(values: Tensor, mask: Tensor) -> Tensor:
        return reverse(values, mask)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return reverse_rows(gradient, *ctx.saved_tensors), None


def reverse_rows(values: Tensor, mask: Tensor) -> Tensor:
    """`reverse`, with the faster backward pass on CUDA."""
    if not values.is_cuda:
        return reverse(values, mask)
    result: Tensor = ReverseRows.apply(values, mask)  # type: ignore[no-untyped-call]
    return result


def run_in_parallel(first: Callable[[], Tensor], second: Callable[[], Tensor]) -> tuple[Tensor, Tensor]:
    """Both results. In a CUDA graph both run at the same time, also backward; elsewhere kernel launches dominate."""
    if not (torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()):
        return first(), second()
    main_stream, side_stream = torch.cuda.current_stream(), torch.cuda.Stream(priority=-1)
    side_stream.wait_stream(main_stream)
    try:
        with torch.cuda.stream(side_stream):
            right = second()
        left = first()
    finally:  # a capture with an unjoined stream would report only that, and hide the original error
        main_stream.wait_stream(side_stream)
    return left, right
