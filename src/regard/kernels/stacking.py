"""Operations over several models at once, for `torch.func.vmap`: where the plain one knows no such axis, another takes over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

Operation = Callable[..., Tensor]


def is_stacked(*values: Tensor) -> bool:
    """Whether one of them belongs to several models, each of which sees only its own."""
    return any(map(torch._C._functorch.is_batchedtensor, values))


def stacked(operation: Operation, *values: Tensor) -> Tensor:
    """What `operation` makes of the values of all models, whose axis comes in front of each, as it does of its result."""
    found: Tensor = over_models(operation).apply(*values)
    return found


@cache
def over_models(operation: Operation) -> type[torch.autograd.Function]:
    class OverModels(torch.autograd.Function):
        """PyTorch calls `vmap` and nothing else here, so the gradient is that of the operation itself."""

        @staticmethod
        def forward(*_: Tensor) -> Tensor:
            raise NotImplementedError

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None: ...

        @staticmethod
        def vmap(info: Any, axes: Sequence[int | None], *values: Tensor) -> tuple[Tensor, int]:
            pairs = zip(values, axes, strict=True)
            return operation(*(in_front(value, axis, info.batch_size) for value, axis in pairs)), 0

    return OverModels


def in_front(value: Tensor, axis: int | None, count: int) -> Tensor:
    return value.expand(count, *value.shape) if axis is None else value.movedim(axis, 0)
