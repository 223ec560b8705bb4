"""Select rows and put them back, with a gather in both directions.

No row is taken twice, so the backward pass needs no sums. Autograd would sort and add in case of duplicates, and on CUDA
that took longer than the LSTM that read the rows.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.kernels.stacking import is_stacked, stacked


def take(values: Tensor, rows: Tensor, back: Tensor) -> Tensor:
    """values[rows], with zeros where an index is n, one past the last row.  (n, …), (m,), (n,) -> (m, …)

    `back` has the position of each of the n values in the result; m if it was not taken.
    """
    if is_stacked(values, rows):
        return stacked(take_stacked, values, rows, back)
    result: Tensor = Rows.apply(values, rows, back)  # type: ignore[no-untyped-call]
    return result


def inverse_index(rows: Tensor, count: int) -> Tensor:
    """The position of each of `count` rows among the m rows taken; m if it was not taken.  (m,) -> (count,)"""
    not_taken = rows.new_full((count,), rows.size(0))
    return not_taken.scatter(0, rows, torch.arange(rows.size(0), device=rows.device))


class Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, rows: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(rows, back)
        return select(values, rows)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        rows, back = ctx.saved_tensors
        return take(gradient, back, rows), None, None


def select(values: Tensor, rows: Tensor) -> Tensor:
    is_row = (rows < len(values)).view(-1, *(1,) * (values.ndim - 1))
    return values.index_select(0, rows.clamp(max=len(values) - 1)).masked_fill(~is_row, 0)


def take_stacked(values: Tensor, rows: Tensor, back: Tensor) -> Tensor:
    """For several stacked models (first axis): one long table with the rows of one model after another."""
    models, count = values.shape[:2]
    result = take(values.flatten(0, 1), shifted(rows, count), shifted(back, rows.size(1)))
    return result.view(models, rows.size(1), *values.shape[2:])


def shifted(rows: Tensor, count: int) -> Tensor:
    """Row indices of each model in the long table; the table's length is the index that means no row."""
    models = rows.size(0)
    first = torch.arange(models, device=rows.device).unsqueeze(1) * count
    return torch.where(rows < count, rows + first, models * count).flatten()
