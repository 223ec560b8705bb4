"""Weights in groups for the optimiser: the norms p of poolings may have a learning rate of their own (`norm_lr`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor

# what norms are made of: apln's θ, what predicts it from a text, norm_unit's ρ
NORMS = ("log_norm", "predictor", "rho")


def norms_of(named: Iterable[tuple[str, Tensor]]) -> list[Tensor]:
    """Those of a model's named weights, alone or stacked, that are norms."""
    return [weight for name, weight in named if name.rpartition(".")[2] in NORMS]


def groups(weights: Iterable[Tensor], norms: Iterable[Tensor], rate: float, factor: float) -> list[dict[str, Any]]:
    """What is learned, each group with its rate: norms at `factor` times that of the rest. One group where it is 1."""
    apart = [] if factor == 1 else [norm for norm in norms if norm.requires_grad]
    others = [weight for weight in weights if weight.requires_grad and not any(weight is norm for norm in apart)]
    found = [{"params": others, "lr": rate}, {"params": apart, "lr": rate * factor}]
    return [group for group in found if group["params"]]
