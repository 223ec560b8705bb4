"""Attention scores: additive  a = qᵀ tanh(W h + b) / λ  (APLN, HAN, AD)  or dot  a = hᵀ V / λ  (Sun & Lu's DP)."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn

from regard.errors import InputError
from regard.masking import at_least_float32, limit_magnitude


class Scorer(nn.Module):
    """One score per token, at least in float32. `query` is the width of q (additive); V (dot) is as wide as the states.

    q or V is initialised uniformly within ± `start`.
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
            raise InputError(f"attention: expected one of additive, dot, got {form!r}")
        if not 0 < scale < float("inf"):
            raise InputError(f"scale: expected a number above 0, got {scale!r}")
        self.scale = scale
        self.project = nn.Linear(dim, query) if form == "additive" else None
        self.query = nn.Parameter(torch.empty(query if form == "additive" else dim).uniform_(-start, start))  # q, or V

    @property
    def direction(self) -> Tensor | None:
        """V, if scores are dot products with the states."""
        return self.query if self.project is None else None

    @torch.no_grad()
    def redraw(self, bound: float) -> None:
        """Initialise q or V uniformly within ± `bound`, and the layer before q with PyTorch's default."""
        self.query.uniform_(-bound, bound)
        if self.project is not None:
            self.project.reset_parameters()

    def forward(self, states: Tensor) -> Tensor:
        states = limit_magnitude(states)
        keys = states if self.project is None else torch.tanh(self.project(states))
        # not a matmul: autocast would run it in half precision, where products with large states overflow
        return (at_least_float32(keys) * self.query).sum(-1) / self.scale  # (N, L)
