"""Two recurrent networks over each text, one of them over the reversed text: what `bilstm` and `bigru` share.

Padding comes after the text and cannot affect the states of a forward pass. The reversal respects the length of each text.
Packed sequences would do the same, but force a synchronisation with the CPU and prevent CUDA graphs, stacked seeds and ONNX
export.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from regard.errors import InputError
from regard.masking import fill, reverse
from regard.values import Encoded

Run = Callable[[Tensor], Tensor]  # the states of all steps, left to right: (N, L, E) -> (N, L, D/2)


def half_width(dim: int, name: str) -> int:
    if dim % 2:
        raise InputError(f"hidden: expected an even number for the two directions of a {name}, got {dim}")
    return dim // 2


def read_both_ways(forwards: Run, backwards: Run, embedded: Tensor, mask: Tensor) -> Encoded:
    left_to_right, right_to_left = run_in_parallel(  # (N, L, D/2) each
        lambda: forwards(embedded),
        lambda: reverse_rows(backwards(reverse_rows(embedded, mask)), mask),
    )
    return Encoded(fill(torch.cat((left_to_right, right_to_left), -1), mask))


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
    main_stream = torch.cuda.current_stream()
    beside = side_stream(main_stream.device_index)
    beside.wait_stream(main_stream)
    try:
        with torch.cuda.stream(beside):
            right = second()
        left = first()
    finally:  # a capture with an unjoined stream would report only that, and hide the original error
        main_stream.wait_stream(beside)
    return left, right


@cache
def side_stream(device: int) -> torch.cuda.Stream:
    """One for all graphs: memory is reused only on the stream that it was allocated for."""
    return torch.cuda.Stream(device, priority=-1)
