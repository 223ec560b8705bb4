"""Operations on several stacked models (seeds) under `torch.func.vmap`, for which the plain operation has no batching rule or
a slow one, and the precision of matrix products that replace cuDNN's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor

Operation = Callable[..., Tensor]
Kind = Literal["rnn", "conv"]


def is_stacked(*values: Tensor) -> bool:
    """Whether one of the tensors is batched over models by vmap."""
    return any(map(torch._C._functorch.is_batchedtensor, values))


def stacked(operation: Operation, *values: Tensor) -> Tensor:
    """Apply `operation` to the values of all models at once; it gets and returns tensors with the model axis first."""
    result: Tensor = over_models(operation).apply(*values)
    return result


@cache
def over_models(operation: Operation) -> type[torch.autograd.Function]:
    class OverModels(torch.autograd.Function):
        """PyTorch only calls `vmap` here, so the gradient is that of the operation itself."""

        @staticmethod
        def forward(*_: Tensor) -> Tensor:
            raise NotImplementedError

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None: ...

        @staticmethod
        def vmap(info: Any, axes: Sequence[int | None], *values: Tensor) -> tuple[Tensor, int]:
            pairs = zip(values, axes, strict=True)
            return operation(*(move_first(value, axis, info.batch_size) for value, axis in pairs)), 0

    return OverModels


def move_first(value: Tensor, axis: int | None, count: int) -> Tensor:
    return value.expand(count, *value.shape) if axis is None else value.movedim(axis, 0)


@contextmanager
def as_cudnn_would(kind: Kind) -> Iterator[None]:
    """Run matrix products in the precision that cuDNN would use."""
    matmul: Any = torch.backends.cuda.matmul
    previous, matmul.fp32_precision = matmul.fp32_precision, precision(kind)
    try:
        yield
    finally:
        matmul.fp32_precision = previous


def precision(kind: Kind) -> str:
    """TF32 on CUDA, unless PyTorch is set to IEEE float32."""
    settings: Any = getattr(torch.backends.cudnn, kind)
    return "ieee" if settings.fp32_precision == "ieee" else "tf32"


class StackedProduct(torch.autograd.Function):
    """x Wᵀ + b for each model, in the precision that cuDNN would use."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """(S, M, E), (S, D, E), (S, D) -> (S, M, D)"""
        ctx.save_for_backward(x, weight)
        with as_cudnn_would("conv"):
            return torch.baddbmm(bias.unsqueeze(1), x, weight.mT)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        with as_cudnn_would("conv"):
            return torch.bmm(gradient, weight), torch.bmm(gradient.mT, x), gradient.sum(1)


def stacked_convolution(rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The convolution of each model over its own texts, as one batched matrix product over windows.

    Each tensor has the model axis first.  (S, N, E, L + size − 1), (S, D, E, size), (S, D) -> (S, N, D, L)

    PyTorch would run a grouped convolution with one group per model, which took ten times as long on an H200.
    """
    models, texts, _, width = rows.shape
    size = weight.size(-1)
    length, rows = width - size + 1, rows.mT  # (S, N, L + size − 1, E)
    windows = torch.cat([rows[:, :, start : start + length] for start in range(size)], -1)  # (S, N, L, size · E)
    filters = weight.transpose(-1, -2).flatten(2)  # (S, D, size · E)
    outputs: Tensor = StackedProduct.apply(windows.flatten(1, 2), filters, bias)  # type: ignore[no-untyped-call]
    return outputs.view(models, texts, length, -1).mT
