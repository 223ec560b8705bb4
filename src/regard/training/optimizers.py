"""Optimisers by name, and for each phase the weights that it trains.

The norms p of poolings may have a separate learning rate (`norm_lr`). The weights may be those of several stacked models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn, optim

from regard.config import Training
from regard.errors import InputError
from regard.poolings import POOLINGS
from regard.training.defaults import LEARNING_RATES
from regard.training.schedule import Phase


@dataclass(frozen=True)
class PhaseOptimizer:
    """The optimiser of all phases of one name: its state is kept from round to round."""

    names: frozenset[str]  # of the weights that are trained
    optimizer: optim.Optimizer

    def enter(self, weights: Mapping[str, Tensor]) -> None:
        """Freeze all other weights. They get no gradient at all, so that their backward pass is not computed."""
        set_trainable(weights, self.names)


def make_phase_optimizers(
    phases: Iterable[Phase], weights: Mapping[str, Tensor], config: Training
) -> dict[str, PhaseOptimizer]:
    """One per name of a phase. Weights that are frozen when this is called stay frozen in all phases."""
    optimizers: dict[str, PhaseOptimizer] = {}
    for phase in phases:
        if phase.name in optimizers:
            continue
        names = frozenset(name for name, weight in weights.items() if weight.requires_grad and phase.updates(name))
        if not names:
            raise InputError(
                f"phase {phase.name!r}: expected patterns that match names of trainable weights, got "
                f"trains = {list(phase.trains)} with freezes = {list(phase.freezes)}, which match none"
            )
        trained = [(name, weight) for name, weight in weights.items() if name in names]  # in the model's order
        optimizers[phase.name] = PhaseOptimizer(names, make_optimizer(trained, config, phase.lr))
    return optimizers


def set_trainable(weights: Mapping[str, Tensor], names: Iterable[str]) -> None:
    """Train the weights of these names and freeze all others; gradients of an earlier phase are dropped."""
    trained = frozenset(names)
    for name, weight in weights.items():
        weight.requires_grad_(name in trained)
        weight.grad = None


def set_module_modes(phase: Phase, model: nn.Module) -> None:
    """Put the modules that a phase trains into training mode, and all others into evaluation mode.

    Our choice: frozen modules drop nothing, so that a frozen encoder gives the same states as in prediction. A dropout
    module that no pattern matches counts as frozen.
    """
    for name, module in model.named_modules():
        module.training = phase.updates(f"{name}.")


def make_optimizer(named: Iterable[tuple[str, Tensor]], config: Training, lr: float | None = None) -> optim.Optimizer:
    """An optimiser of weights, given with their names in the model; `lr` replaces the learning rate of the options."""
    weights = dict(named)
    rate = next((rate for rate in (lr, config.lr) if rate is not None), LEARNING_RATES[config.optimizer])
    groups = parameter_groups(weights.values(), norms_of(weights.items()), rate, config.norm_lr)
    if config.optimizer in ("adam", "amsgrad"):
        # a CUDA graph can only take steps that are counted on the GPU
        on_cuda = any(weight.is_cuda for weight in weights.values())
        amsgrad = config.optimizer == "amsgrad"
        return optim.Adam(groups, rate, weight_decay=config.l2, fused=True, capturable=on_cuda, amsgrad=amsgrad)
    if config.optimizer == "adagrad":
        return optim.Adagrad(groups, rate, weight_decay=config.l2)
    return optim.SGD(groups, rate, weight_decay=config.l2)


def norms_of(named: Iterable[tuple[str, Tensor]]) -> list[Tensor]:
    """The parameters of norms among a model's named weights: those that a pooling declares."""
    names = {name for pooling in POOLINGS.values() for name in pooling.norm_parameters}
    return [weight for name, weight in named if name.rpartition(".")[2] in names]


def parameter_groups(
    weights: Iterable[Tensor], norms: Iterable[Tensor], rate: float, factor: float
) -> list[dict[str, Any]]:
    """Groups for an optimiser: norms are trained at `factor` times the rate of the others. One group if it is 1."""
    separate = [] if factor == 1 else [norm for norm in norms if norm.requires_grad]
    others = [weight for weight in weights if weight.requires_grad and not any(weight is norm for norm in separate)]
    both = [{"params": others, "lr": rate}, {"params": separate, "lr": rate * factor}]
    return [group for group in both if group["params"]]
