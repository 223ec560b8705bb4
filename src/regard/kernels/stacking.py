"""Operations on several stacked models under `torch.func.vmap`, for which the plain operation has no batching rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

Operation = Callable[..., Tensor]


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
