"""Attention scores: additive  a = qᵀ tanh(W h + b) / λ  (APLN, HAN, AD)  or dot  a = hᵀ V / λ  (Sun & Lu's DP)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from regard.errors import InputError
from regard.masking import at_least_float32, limit_magnitude


class Scorer(nn.Module):
    """One score a token, at least in float32. `query` is the width of an additive score's q; a dot score's V is `dim` wide.

    q or V is drawn from ± `start`.
    """

    def __init__(
        self,
        dim: int,
        form: Literal["additive", "dot"] = "additive",
        query: int = 200,
        scale: float = 1.0,
        start: float = 0.1,
    ):
        super().__init__()
        if form not in ("additive", "dot"):
            raise InputError(f"attention = {form!r}: accepted are additive, dot")
        if not 0 < scale < float("inf"):
            raise InputError(f"scale = {scale!r}: a number above 0 is accepted")
        self.scale = scale
        self.project = nn.Linear(dim, query) if form == "additive" else None
        self.query = nn.Parameter(torch.empty(query if form == "additive" else dim).uniform_(-start, start))  # q, or V

    @property
    def direction(self) -> Tensor | None:
        """V, where scores are plain products with the states."""
        return self.query if self.project is None else None

    @torch.no_grad()
    def redraw(self, bound: float) -> None:
        """Draw q or V from ± `bound`, and the layer before q as PyTorch does."""
        self.query.uniform_(-bound, bound)
        if self.project is not None:
            self.project.reset_parameters()

    def forward(self, states: Tensor) -> Tensor:
        states = limit_magnitude(states)
        keys = states if self.project is None else torch.tanh(self.project(states))
        # not a matmul: autocast would take it in half precision, where a product with large states overflows
        return (at_least_float32(keys) * self.query).sum(-1) / self.scale  # (N, L)
