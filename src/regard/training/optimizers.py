"""How steps are taken."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor, optim

from regard.config import Training
from regard.training.groups import groups, norms_of

RATES = {"adam": 3e-3, "adagrad": 0.05, "sgd": 0.1}


def make_optimizer(named: Iterable[tuple[str, Tensor]], config: Training, lr: float | None = None) -> optim.Optimizer:
    """For weights by their names in the model; `lr` is in the place of the config's."""
    weights = dict(named)
    rate = next((own for own in (lr, config.lr) if own is not None), RATES[config.optimizer])
    learned = groups(weights.values(), norms_of(weights.items()), rate, config.norm_lr)
    if config.optimizer == "adam":
        # where a graph takes the steps, it must also count them
        on_cuda = any(weight.is_cuda for weight in weights.values())
        return optim.Adam(learned, rate, weight_decay=config.l2, fused=True, capturable=on_cuda)
    if config.optimizer == "adagrad":
        return optim.Adagrad(learned, rate, weight_decay=config.l2)
    return optim.SGD(learned, rate, weight_decay=config.l2)
