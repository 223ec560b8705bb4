"""r = Σ α_i h_i,  α = softmax(a): the attentive pooling of HAN (Yang et al. 2016), and with dot scores that of Sun & Lu."""

from __future__ import annotations

from typing import Literal, Self

from torch import Tensor

from regard.config import Model
from regard.masking import fill, masked_softmax
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
    options = ("attention", "query", "scale", "query_range")

    def __init__(
        self,
        dim: int,
        attention: Literal["additive", "dot"] = "additive",
        query: int = 200,
        scale: float = 1.0,
        query_range: float = 0.1,
    ):
        super().__init__()
        self.scorer = Scorer(dim, attention, query, scale, query_range)

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        config = config.filled()
        return cls(dim, config.attention, config.query, config.scale, config.query_range)

    def mix(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        return attended(weights, states, mask)

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        scores = fill(self.scorer(states), mask)
        weights = masked_softmax(scores, mask)
        return Pooled(attended(weights, states, mask), weights, scores, query=self.scorer.direction)
