"""What a killed run goes on from: weights, best weights, optimiser and history in one safetensors file, replaced whole.

Chance needs no saving: each epoch's is a function of seed and epoch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import safetensors.torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn, optim

from regard.errors import InputError
from regard.files import write_all

State = dict[str, Tensor]


@dataclass
class Progress:
    """Where a run stands after an epoch."""

    epoch: int = 0
    best_epoch: int = 0
    best: State = field(default_factory=dict)  # the weights of the best epoch
    history: list[dict[str, Any]] = field(default_factory=list)


def write_checkpoint(
    path: Path, identity: str, progress: Progress, model: nn.Module, optimizer: optim.Optimizer
) -> None:
    tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"best/{name}": value for name, value in progress.best.items()}
    for place, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{place}/{name}": value for name, value in state.items()}
    facts = {
        "identity": identity,
        "epoch": str(progress.epoch),
        "best_epoch": str(progress.best_epoch),
        "history": json.dumps(progress.history),
    }
    # clones: safetensors refuses tensors that share memory, as the best weights do where the last epoch was the best
    content = safetensors.torch.save({name: value.detach().cpu().clone() for name, value in tensors.items()}, facts)
    write_all(path.parent, {path.name: content})


def read_checkpoint(path: Path, identity: str, model: nn.Module, optimizer: optim.Optimizer) -> Progress:
    """Put model and optimiser where they were. `identity` tells whether it is the same run over the same texts."""
    try:
        with safe_open(path, "pt") as file:
            facts = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        check_identity(path.parent, facts["identity"], identity)
        model.load_state_dict(below(tensors, "model/"))
        load_optimizer(optimizer, below(tensors, "optimizer/"))
        history = json.loads(facts["history"])
        return Progress(int(facts["epoch"]), int(facts["best_epoch"]), below(tensors, "best/"), history)
    except InputError:
        raise
    except (SafetensorError, KeyError, ValueError, RuntimeError, OSError) as error:
        raise InputError(f"{path}: damaged checkpoint ({type(error).__name__}); start again without --resume") from None


def check_identity(folder: Path, found: str, identity: str) -> None:
    if found != identity:
        raise InputError(
            f"{folder}: was begun with other options or other texts, so it cannot be resumed with these; "
            "give the same, or another --out"
        )


def below(tensors: State, prefix: str) -> State:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def load_optimizer(optimizer: optim.Optimizer, tensors: State) -> None:
    state: dict[int, State] = {}
    for name, value in tensors.items():
        place, key = name.split("/")
        state.setdefault(int(place), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
