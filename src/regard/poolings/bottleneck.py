"""Attention followed by a variational information bottleneck: VAT's learner and compressor.

R = Σ α_i h_i;  u = MLP_u(R),  σ = softplus(MLP_σ(R));  z = u + σ ⊙ ε,  ε ~ N(0, I) (their equation 9), and z = u outside
training. The term `kl` is KL(N(u, σ²) ‖ N(0, I)), which bounds the information that z has about R (7). Choices: z is as wide as
R; the divergence is summed over dimensions and averaged over non-empty texts.

With several attention heads, which VAT's footnote 2 leaves to future work, α is the mean of the heads' weights. Choices: the
heads have scorers of their own but share the states, without projections of them, so that R is still Σ α_i h_i and the weight
shown for a word is the factor of its state.
"""

from __future__ import annotations

import math
from typing import Literal, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.config import Model
from regard.errors import InputError
from regard.masking import at_least_float32, fill, limit_magnitude, masked_logsumexp, masked_softmax
from regard.poolings.perceptron import Perceptron
from regard.poolings.pooling import Pooling, attended, checked
from regard.poolings.scorer import Scorer
from regard.values import Pooled


class Bottleneck(Pooling):
    """Attention followed by an information bottleneck.

    The vector is R, as in plain attention; z is returned as `compressed`, for a separate head.

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
    attention_heads : int
        Number of attention heads, whose weights are averaged.
    """

    attends = True
    is_linear = True
    compresses = True
    options = ("attention", "query", "scale", "query_range", "attention_heads")

    def __init__(
        self,
        dim: int,
        attention: Literal["additive", "dot"] = "additive",
        query: int = 200,
        scale: float = 1.0,
        query_range: float = 0.1,
        attention_heads: int = 1,
    ):
        super().__init__()
        if attention_heads < 1:
            raise InputError(f"attention_heads: expected a number above 0, got {attention_heads}")
        self.scorer = Scorer(dim, attention, query, scale, query_range)
        self.mean, self.deviation = Perceptron(dim, dim), Perceptron(dim, dim)
        self.other_scorers = nn.ModuleList(
            Scorer(dim, attention, query, scale, query_range) for _ in range(attention_heads - 1)
        )

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        config = config.filled()
        return cls(dim, config.attention, config.query, config.scale, config.query_range, config.attention_heads)

    def mix(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        return attended(weights, states, mask)

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        scores = self.scores(states, mask)  # (N, L)
        weights = masked_softmax(scores, mask)
        vector, nonempty = attended(weights, states, mask), mask.any(1)  # R (N, D), (N,)
        with torch.autocast(states.device.type, enabled=False):  # squares and logarithms need full precision
            # R is float32 even if the weights have half precision
            limited = limit_magnitude(vector.to(self.mean.out.weight.dtype))
            mean, spread = (at_least_float32(part(limited)) for part in (self.mean, self.deviation))  # u (N, D)
            deviation = functional.softplus(spread).clamp_min(torch.finfo(spread.dtype).tiny)  # σ (N, D)
        # noise is added only while σ is trained; otherwise z is u
        sampled = mean + deviation * torch.randn_like(mean) if self.deviation.training else mean  # z (N, D)
        divergence = fill(kl(mean, deviation), nonempty).sum() / nonempty.sum().clamp_min(1)
        return Pooled(
            vector,
            weights,
            scores,
            query=None if self.other_scorers else self.scorer.direction,
            compressed=fill(sampled, nonempty),
            terms={"kl": divergence},
        )

    def scores(self, states: Tensor, mask: Tensor) -> Tensor:
        """Scores whose softmax is the mean of the heads' weights; those of the head if there is only one.

        log mean_k α_ki + mean_k log Σ_i exp a_ki: the second term, the same for all words of a text, makes the score of a word
        that is alone the mean of its scores.
        """
        if not self.other_scorers:
            return fill(self.scorer(states), mask)
        by_head = torch.stack([scorer(states) for scorer in (self.scorer, *self.other_scorers)], 1)  # (N, K, L)
        totals = masked_logsumexp(by_head, mask.unsqueeze(1), dim=2).unsqueeze(2)  # (N, K, 1)
        heads = by_head.size(1)
        return fill((by_head - totals).logsumexp(1) - math.log(heads) + totals.mean(1), mask)


def kl(mean: Tensor, deviation: Tensor) -> Tensor:
    """KL(N(u, σ²) ‖ N(0, I)) = ½ Σ_j (u_j² + σ_j² − 1 − 2 log σ_j)  (N, D), (N, D) -> (N,)"""
    return (mean.square() + deviation.square() - 1 - 2 * deviation.log()).sum(-1) / 2
