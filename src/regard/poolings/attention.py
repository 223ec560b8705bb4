"""r = Σ α_i h_i,  α = softmax(a): the attentive pooling of HAN (Yang et al. 2016), and with dot scores that of Sun & Lu."""

from __future__ import annotations

from typing import Literal, Self

import torch
from torch import Tensor

from regard.config import Model
from regard.errors import InputError
from regard.masking import at_least_float32, fill, limit_magnitude, masked_softmax
from regard.poolings.pooling import Pooling, attended, checked
from regard.poolings.scorer import Scorer
from regard.values import Pooled


class Attention(Pooling):
    """The sum of the states, weighted with the softmax of attention scores.

    Parameters
    ----------
    dim : int
        Width of the states.
    attention : {"additive", "dot"}
        How scores are computed: qᵀ tanh(W h + b) / λ, or hᵀ V / λ.
    query : int
        Width of q; V is as wide as the states.
    scale : float
        λ, by which scores are divided.
    query_range : float
        q or V is initialised uniformly within ± this.
    """

    attends = True
    is_linear = True
    options = ("attention", "query", "scale", "query_range", "members")

    def __init__(
        self,
        dim: int,
        attention: Literal["additive", "dot"] = "additive",
        query: int = 200,
        scale: float = 1.0,
        query_range: float = 0.1,
        members: int = 1,
    ):
        """`members` of a committee attend separately, each to its own part of the states; their weights are averaged."""
        super().__init__()
        if members > 1 and (attention != "dot" or dim % members):
            raise InputError(f"members: expected dot attention and a divisor of the width {dim}, got {members}")
        self.members = members
        self.scorer = Scorer(dim, attention, query, scale, query_range)

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        config = config.filled()
        return cls(dim, config.attention, config.query, config.scale, config.query_range, config.members)

    def mix(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        return attended(weights, states, mask)

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        if self.members > 1:
            return self.committee(states, mask)
        scores = fill(self.scorer(states), mask)
        weights = masked_softmax(scores, mask)
        return Pooled(attended(weights, states, mask), weights, scores, query=self.scorer.direction)

    def committee(self, states: Tensor, mask: Tensor) -> Pooled:
        by_member = mask.unsqueeze(1).expand(-1, self.members, -1)
        scores = fill(self.member_scores(states).mT, by_member)  # (N, M, L)
        weights = masked_softmax(scores, by_member)
        parts = [attended(w, h, mask) for w, h in zip(weights.unbind(1), states.chunk(self.members, -1), strict=True)]
        shares = weights.mean(1)
        # the scores whose softmax the shares are, as for any pooling that attends
        logs = fill(shares.clamp_min(torch.finfo(shares.dtype).tiny).log(), mask)
        return Pooled(torch.cat(parts, -1), shares, logs)

    def member_scores(self, states: Tensor) -> Tensor:
        """The score of each token for each member.  (N, L, D) -> (N, L, M)"""
        if self.members == 1:
            single: Tensor = self.scorer(states)
            return single.unsqueeze(-1)
        products = at_least_float32(limit_magnitude(states)) * self.scorer.query
        scores: Tensor = products.unflatten(-1, (self.members, -1)).sum(-1) / self.scorer.scale
        return scores
