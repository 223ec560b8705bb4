"""Attention scores: additive  a = qᵀ tanh(W h + b) / λ  (APLN, HAN, AD)  or dot  a = hᵀ V / λ  (Sun & Lu's DP)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.masking import at_least_float32


class Scorer(nn.Module):
    """One score a token, at least in float32. `query_dim` = 0 makes the score a plain product with V."""

    def __init__(self, dim: int, query_dim: int = 200, scale: float = 1.0):
        super().__init__()
        self.scale = scale
        self.project = nn.Linear(dim, query_dim) if query_dim else None
        self.query = nn.Parameter(torch.empty(query_dim or dim).uniform_(-0.1, 0.1))  # q, or V

    @classmethod
    def configured(cls, dim: int, config: Model) -> Scorer:
        return cls(dim, config.query if config.attention == "additive" else 0, config.scale)

    @property
    def direction(self) -> Tensor | None:
        """V, where scores are plain products with the states."""
        return self.query if self.project is None else None

    def forward(self, states: Tensor) -> Tensor:
        keys = states if self.project is None else torch.tanh(self.project(states))
        # not a matmul: autocast would take it in half precision, where a product with large states overflows
        return (at_least_float32(keys) * self.query).sum(-1) / self.scale  # (N, L)
