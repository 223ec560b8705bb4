"""Convolution of several stacked models (seeds), each over its own texts, as one batched matrix product over windows.

PyTorch would run a grouped convolution with one group per model, which took ten times as long on an H200.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.kernels.precision import as_cudnn_would


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
    """Each tensor has the model axis first.  (S, N, E, L + size − 1), (S, D, E, size), (S, D) -> (S, N, D, L)"""
    models, texts, _, width = rows.shape
    size = weight.size(-1)
    length, rows = width - size + 1, rows.mT  # (S, N, L + size − 1, E)
    windows = torch.cat([rows[:, :, start : start + length] for start in range(size)], -1)  # (S, N, L, size · E)
    filters = weight.transpose(-1, -2).flatten(2)  # (S, D, size · E)
    outputs: Tensor = StackedProduct.apply(windows.flatten(1, 2), filters, bias)  # type: ignore[no-untyped-call]
    return outputs.view(models, texts, length, -1).mT
