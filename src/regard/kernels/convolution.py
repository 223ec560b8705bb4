"""Filters of several models over their own texts (stacked seeds): windows side by side, and one product for all.

PyTorch would make it a convolution in as many groups as there are models, which on an H200 took ten times as long.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.kernels.precision import as_cudnn_would


class StackedProduct(torch.autograd.Function):
    """x Wᵀ + b for each model, in the precision that cuDNN would take."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """(S, M, E), (S, D, E), (S, D) -> (S, M, D)"""
        ctx.save_for_backward(x, weight)
        with as_cudnn_would("conv"):
            return torch.baddbmm(bias.unsqueeze(1), x, weight.mT)

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, weight = ctx.saved_tensors
        with as_cudnn_would("conv"):
            return torch.bmm(given, weight), torch.bmm(given.mT, x), given.sum(1)


def stacked_convolution(rows: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Each tensor with the models' axis in front.  (S, N, E, L + size − 1), (S, D, E, size), (S, D) -> (S, N, D, L)"""
    models, texts, _, places = rows.shape
    size = weight.size(-1)
    length, rows = places - size + 1, rows.mT  # (S, N, L + size − 1, E)
    windows = torch.cat([rows[:, :, start : start + length] for start in range(size)], -1)  # (S, N, L, size · E)
    filters = weight.transpose(-1, -2).flatten(2)  # (S, D, size · E)
    found: Tensor = StackedProduct.apply(windows.flatten(1, 2), filters, bias)  # type: ignore[no-untyped-call]
    return found.view(models, texts, length, -1).mT
