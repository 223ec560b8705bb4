"""The weighted power mean of APLN (Wu et al., ACL 2020, equation 5) in log space.

    r = [ Σ_i clip(α_i h_i, 0, 1)^p / Σ_i α_i^p ]^(1/p),   every power as  x^p = exp(p · log(x + ε))

Computed with log-sum-exp and no ε outside the sums: an outer ε would put a floor of ε^(1/p) under r (0.78 at p = 64), and
a linear sum underflows. At p = 1 and 0 ≤ α h ≤ 1 the result differs from Σ α h by Nε|1 − Σ α h| / (1 + Nε).

Not in the paper: `altered_power_mean`, without the root or the normaliser, and `signed_power_mean`, whose powers keep the
sign, so that negative states count instead of being clipped.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.masking import masked_logsumexp

EPSILON = 1e-7
NEAR_ZERO = 1e-3  # |x| below which signed powers and roots become linear; limits their slope to 1000


def power_mean(scaled: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    """`scaled` is α h, made non-negative.  (N, L, D), (N, L), p, (N, L) -> (N, D)

    The norm p is a scalar (), one per text (N, 1) or one per feature (D,). Rows without real tokens give zeros.
    """
    power = norm.unsqueeze(-2) if norm.ndim else norm  # (1, D), (N, 1, 1) or ()
    log_ratio = log_power_sum(scaled, power, mask) - log_power_sum(weights.unsqueeze(-1), power, mask)  # (N, D)
    return (log_ratio / norm).exp().masked_fill(~mask.any(1, keepdim=True), 0)


def log_power_sum(values: Tensor, power: Tensor, mask: Tensor) -> Tensor:
    """log Σ_i x_i^p.  (N, L, D or 1), p, (N, L) -> (N, D or 1)"""
    return masked_logsumexp(power * (values + EPSILON).log(), mask.unsqueeze(-1), dim=1)


def altered_power_mean(scaled: Tensor, weights: Tensor, norm: Tensor, mask: Tensor, form: str) -> Tensor:
    """Equation 5 with a part left out: what an implementation that departs from it would compute.

    no_root         Σ (α h)^p / Σ α^p
    no_normaliser   [ Σ (α h)^p ]^(1/p)
    neither         Σ (α h)^p
    divided_by_n    [ Σ (α h)^p / N ]^(1/p)
    """
    power = norm.unsqueeze(-2) if norm.ndim else norm
    logarithm = log_power_sum(scaled, power, mask)  # (N, D)
    if form == "no_root":
        logarithm = logarithm - log_power_sum(weights.unsqueeze(-1), power, mask)
    elif form == "divided_by_n":
        logarithm = logarithm - mask.sum(1, keepdim=True).clamp_min(1).log()
    if form in ("no_normaliser", "divided_by_n"):
        logarithm = logarithm / norm
    return logarithm.exp().masked_fill(~mask.any(1, keepdim=True), 0)


def signed_power_mean(scaled: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    """The same for values of either sign:  m = Σ sign(x_i)|x_i|^p / Σ α_i^p,  r = sign(m)|m|^(1/p).

    Both have an infinite slope at 0, the power for p < 1 and the root for p > 1. Values y are therefore in units of the
    row's largest |x|, and sign(y)|y|^p is smoothed to  y (y² + δ²)^((p−1)/2),  δ = `NEAR_ZERO`, as is the root. At p = 1
    nothing is smoothed: the result is Σ x / (1 + Nε).
    """
    power, real = norm.unsqueeze(-2) if norm.ndim else norm, mask.unsqueeze(-1)
    scaled = scaled.masked_fill(~real, 0)
    largest = scaled.abs().amax(1) + EPSILON  # (N, D)
    units = scaled / largest.unsqueeze(1)  # (N, L, D) in [−1, 1]
    total = signed_power(units, power).sum(1)  # (N, D)
    log_denominator = masked_logsumexp(power * (weights + EPSILON).log().unsqueeze(-1), real, dim=1)  # (N, D or 1)
    size = (largest.log() + (log_size(total) - log_denominator) / norm).exp()
    return (soft_sign(total) * size).masked_fill(~mask.any(1, keepdim=True), 0)


def signed_power(values: Tensor, power: Tensor) -> Tensor:
    return soft_sign(values) * (power * log_size(values)).exp()


def log_size(values: Tensor) -> Tensor:
    """log |x| with a smooth floor at log δ."""
    return (values.square() + NEAR_ZERO**2).log() / 2


def soft_sign(values: Tensor) -> Tensor:
    """The sign of x, smoothed at 0 such that sign · size = x."""
    return values * (values.square() + NEAR_ZERO**2).rsqrt()


def direct_power_mean(scaled: Tensor, weights: Tensor, norm: Tensor, mask: Tensor) -> Tensor:
    """The same without the re-formulation (the paper's −RF): plain powers, with their numerical hazards."""
    power = norm.unsqueeze(-2) if norm.ndim else norm
    numerator = masked_power_sum(scaled, power, mask)  # (N, D)
    denominator = masked_power_sum(weights.unsqueeze(-1), power, mask)  # (N, D or 1)
    return torch.pow(numerator / denominator, 1 / norm).masked_fill(~mask.any(1, keepdim=True), 0)


def masked_power_sum(values: Tensor, power: Tensor, mask: Tensor) -> Tensor:
    """Padding is set to 1 before the power: the derivative of 0^p by p is not finite and would spoil the gradient of p."""
    padding = ~mask.unsqueeze(-1)
    total: Tensor = torch.pow(values.masked_fill(padding, 1), power).masked_fill(padding, 0).sum(1)
    # an empty row has no power mean; 1 keeps the division finite until the result is dropped
    return torch.where(mask.any(1, keepdim=True), total, torch.ones_like(total))
