"""A phase on the weights of a model, or of several stacked: which of them learn, and the optimiser that they keep over the
rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor, nn, optim

from regard.config import Training
from regard.errors import InputError
from regard.training.optimizers import make_optimizer
from regard.training.schedule import Phase


@dataclass(frozen=True)
class Stage:
    names: frozenset[str]  # of the weights that learn
    optimizer: optim.Optimizer

    def enter(self, weights: Mapping[str, Tensor]) -> None:
        """What is frozen gets no gradient at all, so that its backward pass is not computed either."""
        allow(weights, self.names)


def make_stages(phases: Iterable[Phase], weights: Mapping[str, Tensor], config: Training) -> dict[str, Stage]:
    """By the phases' names. What doesn't learn to begin with never does."""
    stages: dict[str, Stage] = {}
    for phase in phases:
        if phase.name in stages:
            continue
        names = frozenset(name for name, weight in weights.items() if weight.requires_grad and phase.learns(name))
        if not names:
            raise InputError(
                f"the phase {phase.name!r} trains nothing: trains = {list(phase.trains)} without freezes = "
                f"{list(phase.freezes)} leaves no weight that may learn; patterns of weights' names are accepted"
            )
        own = [(name, weight) for name, weight in weights.items() if name in names]  # in the model's order
        stages[phase.name] = Stage(names, make_optimizer(own, config, phase.lr))
    return stages


def allow(weights: Mapping[str, Tensor], names: Iterable[str]) -> None:
    """Let these learn and no others; gradients that another phase left are gone."""
    learned = frozenset(names)
    for name, weight in weights.items():
        weight.requires_grad_(name in learned)
        weight.grad = None


def set_modes(phase: Phase, model: nn.Module) -> None:
    """What learns is in training mode. A choice: what is frozen drops nothing, so that the states of a frozen encoder are
    those that it will give when it answers. Dropout belongs to the frozen part where no pattern names it."""
    for name, module in model.named_modules():
        module.training = phase.learns(f"{name}.")
