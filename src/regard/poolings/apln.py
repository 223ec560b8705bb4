"""Attentive pooling with learnable norms (Wu et al., ACL 2020): the power mean of attended states, its norm p learned.

    r = [ Σ_i clip(α_i h_i, 0, 1)^p / Σ_i α_i^p ]^(1/p)

Choices where the paper is silent: p = exp(θ), so that it stays positive and may fall below 1; the weight shown for a word
is α^p renormalised, as in its Figure 8. Beyond the paper: a norm predicted from the text (its future work), one norm per
feature, powers that keep the sign of a state instead of the clip at 0, a vector of fixed length, which p can only rotate, and
the equation without its root or its normaliser (`form`).
"""

from __future__ import annotations

import math
from typing import Literal, Self

import torch
from torch import Tensor, nn

from regard.config import Model
from regard.errors import InputError
from regard.kernels.attended_power_mean import attended_power_mean
from regard.kernels.power_mean import EPSILON, altered_power_mean, direct_power_mean, power_mean, signed_power_mean
from regard.masking import at_least_float32, fill, limit_magnitude, masked_softmax
from regard.poolings.pooling import Pooling, attended, checked
from regard.poolings.scorer import Scorer
from regard.values import Pooled

MIN_MEAN_SQUARE = 1e-12  # keeps the division by a vector's length finite
FORMS = ("printed", "no_root", "no_normaliser", "neither", "divided_by_n")
MAX_LOG_NORM = math.log(1024)  # bound on |log p| predicted from a text: an outlier must not send the norm to infinity


class APLN(Pooling):
    """The power mean of attended states, with a learned norm p.

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
    norm : {"scalar", "sample", "feature"}
        One p, one predicted from each text, or one per feature.
    norm_init : float
        Initial p.
    rescale : {"clip", "normalise", "signed"}
        How α h is brought into the range where powers are safe.
    nonnegative, bounded, reformulate : bool
        Ablations of the paper's Table 4 when False: −SL (≥ 0), −SL (≤ 1) and −RF.
    unit_length : bool
        Give the vector a learned length, so that p can only rotate it.
    """

    attends = True
    has_norm = True
    options = (
        *("attention", "query", "scale", "query_range"),
        *("norm", "norm_init", "rescale", "nonnegative", "bounded", "reformulate", "unit_length", "form"),
    )
    norm_parameters = ("log_norm", "predictor")

    def __init__(
        self,
        dim: int,
        attention: Literal["additive", "dot"] = "additive",
        query: int = 200,
        scale: float = 1.0,
        query_range: float = 0.1,
        norm: Literal["scalar", "sample", "feature"] = "scalar",
        norm_init: float = 1.0,
        rescale: Literal["clip", "normalise", "signed"] = "clip",
        nonnegative: bool = True,
        bounded: bool = True,
        reformulate: bool = True,
        unit_length: bool = False,
        form: Literal["printed", "no_root", "no_normaliser", "neither", "divided_by_n"] = "printed",
    ):
        super().__init__()
        if norm not in ("scalar", "sample", "feature"):
            raise InputError(f"norm: expected one of scalar, sample, feature, got {norm!r}")
        if rescale not in ("clip", "normalise", "signed"):
            raise InputError(f"rescale: expected one of clip, normalise, signed, got {rescale!r}")
        if form not in FORMS:
            raise InputError(f"form: expected one of {', '.join(FORMS)}, got {form!r}")
        if not 0 < norm_init < math.inf:
            raise InputError(f"norm_init: expected a number above 0, got {norm_init!r}")
        self.scorer = Scorer(dim, attention, query, scale, query_range)
        self.rescale, self.form = rescale, form
        self.nonnegative, self.bounded, self.reformulate = nonnegative, bounded, reformulate
        self.log_norm = nn.Parameter(torch.full((dim,) if norm == "feature" else (), math.log(norm_init)))
        self.gain = nn.Parameter(torch.ones(())) if unit_length else None
        self.predictor = nn.Parameter(torch.zeros(dim)) if norm == "sample" else None

    @classmethod
    def configured(cls, dim: int, directions: int, config: Model) -> Self:
        config = config.filled()
        return cls(
            dim,
            attention=config.attention,
            query=config.query,
            scale=config.scale,
            query_range=config.query_range,
            norm=config.norm,
            norm_init=1.0 if config.norm_init is None else config.norm_init,
            rescale=config.rescale,
            nonnegative=config.nonnegative,
            bounded=config.bounded,
            reformulate=config.reformulate,
            unit_length=config.unit_length,
            form=config.form,
        )

    def forward(self, states: Tensor, mask: Tensor) -> Pooled:
        mask = checked(states, mask)
        scores = fill(self.scorer(states), mask)
        alpha = masked_softmax(scores, mask)  # (N, L)
        norm = self.norm(alpha, states, mask)  # (), (D,) or (N, 1)
        vector = self.rescale_length(self.mean(states, alpha, norm, mask))  # (N, D)
        sharpness = (
            norm.mean() if self.log_norm.ndim else norm
        )  # weights shown for words need one p, even if features differ
        return Pooled(vector, masked_softmax(fill(sharpness * scores, mask), mask), scores, norm=norm)

    def mix(self, states: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        return self.rescale_length(self.mean(states, weights, self.norm(weights, states, mask), mask))

    def norm(self, alpha: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        if self.predictor is None:
            return self.log_norm.exp()
        shift = (limit_magnitude(attended(alpha, states, mask)) * self.predictor).sum(-1, keepdim=True)  # (N, 1)
        return (self.log_norm + shift).clamp(-MAX_LOG_NORM, MAX_LOG_NORM).exp()

    def mean(self, states: Tensor, alpha: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
        if not mask.size(1):
            return attended(alpha, states, mask)  # no tokens: nothing to raise to a power
        is_printed = self.form == "printed"
        if is_printed and self.rescale == "clip" and self.nonnegative and self.bounded and self.reformulate:
            return attended_power_mean(states, alpha, norm, mask)
        scaled = self.limit(alpha.unsqueeze(-1) * at_least_float32(states), mask)  # (N, L, D)
        if self.rescale == "signed":
            return signed_power_mean(scaled, alpha, norm, mask)
        if not is_printed:
            return altered_power_mean(scaled, alpha, norm, mask, self.form)
        return (power_mean if self.reformulate else direct_power_mean)(scaled, alpha, norm, mask)

    def rescale_length(self, vector: Tensor) -> Tensor:
        return vector if self.gain is None else self.gain * unit_rms(vector)

    def limit(self, scaled: Tensor, mask: Tensor) -> Tensor:
        """Bring α h into the range where powers are safe."""
        if self.rescale == "normalise":
            return normalise(scaled, mask)
        if self.rescale == "signed":
            return nn.functional.hardtanh(scaled, -1, 1) if self.bounded else scaled
        if self.nonnegative and self.bounded:
            return nn.functional.hardtanh(scaled, 0, 1)  # as in `attended_power_mean`
        if self.nonnegative or self.bounded:
            return scaled.clamp(0 if self.nonnegative else None, 1 if self.bounded else None)
        return scaled


def unit_rms(vectors: Tensor) -> Tensor:
    """Vectors divided by their root mean square, so that each has length √D; a row of zeros stays zero."""
    return vectors * (vectors.square().mean(-1, keepdim=True) + MIN_MEAN_SQUARE).rsqrt()


def normalise(scaled: Tensor, mask: Tensor) -> Tensor:
    """Min-max scaling of each text's elements to [0, 1]: negative states count as small instead of not at all."""
    real, scaled = mask.unsqueeze(-1), limit_magnitude(scaled)
    low = scaled.masked_fill(~real, torch.finfo(scaled.dtype).max).amin((1, 2), keepdim=True)
    high = scaled.masked_fill(~real, torch.finfo(scaled.dtype).min).amax((1, 2), keepdim=True)
    return fill((scaled - low) / (high - low + EPSILON), mask)
