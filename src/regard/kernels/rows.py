"""Some rows out of many, and back to their places: both ways a gather.

No row comes twice, so the way back needs no sums; autograd would sort and add up, in case one did, and on CUDA that took
longer than the LSTM that read the rows.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.kernels.stacking import is_stacked, stacked


def take(values: Tensor, rows: Tensor, back: Tensor) -> Tensor:
    """values[rows], with zeros where a row's number is the number of rows.  (n, …), (m,), (n,) -> (m, …)

    `back` says for each of the n values where it went; m says that it went nowhere.
    """
    if is_stacked(values, rows):
        return stacked(take_stacked, values, rows, back)
    found: Tensor = Rows.apply(values, rows, back)  # type: ignore[no-untyped-call]
    return found


def places(rows: Tensor, count: int) -> Tensor:
    """For each of `count` rows its place among those taken; where it was not taken, their number.  (m,) -> (count,)"""
    nowhere = rows.new_full((count,), rows.size(0))
    return nowhere.scatter(0, rows, torch.arange(rows.size(0), device=rows.device))


class Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, rows: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(rows, back)
        return selected(values, rows)

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, None, None]:
        rows, back = ctx.saved_tensors
        return take(given, back, rows), None, None


def selected(values: Tensor, rows: Tensor) -> Tensor:
    there = (rows < len(values)).view(-1, *(1,) * (values.ndim - 1))
    return values.index_select(0, rows.clamp(max=len(values) - 1)).masked_fill(~there, 0)


def take_stacked(values: Tensor, rows: Tensor, back: Tensor) -> Tensor:
    """Of several models, their axis in front: one long table, each model's rows further down."""
    models, count = values.shape[:2]
    found = take(values.flatten(0, 1), below(rows, count), below(back, rows.size(1)))
    return found.view(models, rows.size(1), *values.shape[2:])


def below(rows: Tensor, count: int) -> Tensor:
    """Each model's row numbers in the long table of all, whose length is the number that means none."""
    models = rows.size(0)
    first = torch.arange(models, device=rows.device).unsqueeze(1) * count
    return torch.where(rows < count, rows + first, models * count).flatten()
