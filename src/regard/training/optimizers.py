"""Optimisers by name. The norms p of poolings may have a learning rate of their own (`norm_lr`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor, optim

from regard.config import Training
from regard.poolings import POOLINGS
from regard.training.choices import RATES


def make_optimizer(named: Iterable[tuple[str, Tensor]], config: Training, lr: float | None = None) -> optim.Optimizer:
    """For weights by their names in the model; `lr` replaces that of the options."""
    weights = dict(named)
    rate = next((given for given in (lr, config.lr) if given is not None), RATES[config.optimizer])
    learned = groups(weights.values(), norms_of(weights.items()), rate, config.norm_lr)
    if config.optimizer == "adam":
        # the steps must be counted on the GPU for a CUDA graph to take them
        on_cuda = any(weight.is_cuda for weight in weights.values())
        return optim.Adam(learned, rate, weight_decay=config.l2, fused=True, capturable=on_cuda)
    if config.optimizer == "adagrad":
        return optim.Adagrad(learned, rate, weight_decay=config.l2)
    return optim.SGD(learned, rate, weight_decay=config.l2)


def norms_of(named: Iterable[tuple[str, Tensor]]) -> list[Tensor]:
    """The weights behind norms among a model's named weights, which may be stacked: those that a pooling declares."""
    names = {name for pooling in POOLINGS.values() for name in pooling.norm_parameters}
    return [weight for name, weight in named if name.rpartition(".")[2] in names]


def groups(weights: Iterable[Tensor], norms: Iterable[Tensor], rate: float, factor: float) -> list[dict[str, Any]]:
    """What is learned, each group with its rate: norms at `factor` times the rate of the rest. One group if it is 1."""
    apart = [] if factor == 1 else [norm for norm in norms if norm.requires_grad]
    others = [weight for weight in weights if weight.requires_grad and not any(weight is norm for norm in apart)]
    both = [{"params": others, "lr": rate}, {"params": apart, "lr": rate * factor}]
    return [group for group in both if group["params"]]
