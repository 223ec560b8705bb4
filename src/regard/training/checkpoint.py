"""What a killed run goes on from: weights, best weights, optimisers, history and what was recorded, in one safetensors file
that is replaced whole.

Chance needs no saving: each epoch's is a function of seed, phase and epoch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from regard.errors import InputError
from regard.files import write_all
from regard.training.metrics import goodness, numbers

if TYPE_CHECKING:
    from torch import nn, optim

Arrays = dict[str, NDArray[Any]]
SEEN = "seen/"  # before the names of what was recorded


@dataclass
class Progress:
    """Where a run stands after an epoch."""

    epoch: int = 0
    best_epoch: int = 0
    best: dict[str, Any] = field(default_factory=dict)  # the weights of the best epoch, as the engine has them
    history: list[dict[str, Any]] = field(default_factory=list)
    phase: int = 0  # its place in the schedule
    begun: int = 0  # the epochs before it

    @property
    def within(self) -> int:
        """The epochs of the phase that are done."""
        return self.epoch - self.begun

    def go_on(self, afresh: bool) -> None:
        """To the next phase; `afresh`, what was best until now is no longer compared with."""
        self.phase, self.begun = self.phase + 1, self.epoch
        if afresh:
            self.best_epoch, self.best = 0, {}

    def add(self, record: dict[str, Any], scores: dict[str, Any], chosen_by_dev: bool, counts: bool = True) -> bool:
        """Take an epoch in; whether it is the best so far. Without a dev set nothing can be chosen: the last one counts.
        Nor can one that doesn't count be chosen."""
        record["dev" if chosen_by_dev else "train"] = numbers(scores)
        before = goodness(self.history[self.best_epoch - 1]["dev"]) if chosen_by_dev and self.best_epoch else None
        self.history.append(record)
        self.epoch = record["epoch"]
        better = counts and (before is None or goodness(scores) > before)
        if better:
            self.best_epoch = self.epoch
        return better

    def is_over(self, epochs: int, patience: int) -> bool:
        """Whether all epochs of a phase are done, or so many went by without a better one (0: never mind)."""
        return self.within >= epochs or (bool(patience) and self.epoch - self.best_epoch >= patience)


def write_arrays(path: Path, identity: str, progress: Progress, arrays: Arrays) -> None:
    """`arrays` are weights, best weights and what else an engine needs to go on."""
    facts = {
        "identity": identity,
        "epoch": str(progress.epoch),
        "best_epoch": str(progress.best_epoch),
        "history": json.dumps(progress.history),
        "phase": str(progress.phase),
        "begun": str(progress.begun),
    }
    write_all(path.parent, {path.name: safetensors.numpy.save(arrays, facts)})


def read_arrays(path: Path, identity: str) -> tuple[Progress, Arrays]:
    """What `write_arrays` wrote, but the best weights. `identity` tells whether it is the same run over the same texts."""
    with reading(path), safe_open(path, "np") as file:
        facts = file.metadata() or {}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        check_identity(path.parent, facts["identity"], identity)
        epoch, best_epoch, phase, begun = (int(facts[name]) for name in ("epoch", "best_epoch", "phase", "begun"))
        return Progress(epoch, best_epoch, {}, json.loads(facts["history"]), phase, begun), arrays


@contextmanager
def reading(path: Path) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except (SafetensorError, KeyError, ValueError, RuntimeError, OSError) as error:
        raise InputError(f"{path}: damaged checkpoint ({type(error).__name__}); start again without --resume") from None


def write_checkpoint(
    path: Path,
    identity: str,
    progress: Progress,
    model: nn.Module,
    optimizers: Mapping[str, optim.Optimizer],
    seen: Arrays | None = None,
) -> None:
    """`optimizers` are those of all phases, by name; `seen` is what was recorded along training."""
    tensors = {f"model/{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"best/{name}": value for name, value in progress.best.items()}
    for phase, optimizer in optimizers.items():
        for place, state in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{phase}/{place}/{name}": value for name, value in state.items()}
    arrays = {name: value.detach().cpu().contiguous().numpy() for name, value in tensors.items()}
    arrays |= {f"{SEEN}{name}": value for name, value in (seen or {}).items()}
    write_arrays(path, identity, progress, arrays)


def read_checkpoint(
    path: Path, identity: str, model: nn.Module, optimizers: Mapping[str, optim.Optimizer]
) -> tuple[Progress, Arrays]:
    """Put model and optimisers where they were; what was recorded until then."""
    import torch

    progress, arrays = read_arrays(path, identity)
    tensors = {name: torch.from_numpy(value) for name, value in arrays.items() if not name.startswith(SEEN)}
    with reading(path):
        model.load_state_dict(below(tensors, "model/"))
        for phase, optimizer in optimizers.items():
            load_optimizer(optimizer, below(tensors, f"optimizer/{phase}/"))
    progress.best = below(tensors, "best/")
    return progress, below(arrays, SEEN)


def check_identity(folder: Path, found: str, identity: str) -> None:
    if found != identity:
        raise InputError(
            f"{folder}: was begun with other options or other texts, so it cannot be resumed with these; "
            "give the same, or another --out"
        )


def below(values: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


def load_optimizer(optimizer: optim.Optimizer, tensors: dict[str, Any]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for name, value in tensors.items():
        place, key = name.split("/")
        state.setdefault(int(place), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
