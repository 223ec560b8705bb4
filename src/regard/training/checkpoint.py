"""The progress of a run, and the checkpoint that a killed run is resumed from.

A checkpoint is one safetensors file that is replaced as a whole: weights, best weights, optimisers, history and what was
recorded. The state of random generators is not needed, because random numbers depend on seed, phase and epoch only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from regard.errors import InputError
from regard.files import write_all
from regard.training.metrics import goodness, numbers

Arrays = dict[str, NDArray[Any]]
MODEL, BEST, SEEN = "model/", "best/", "seen/"  # prefixes: current weights, best weights, what was recorded


@dataclass
class Progress:
    """The state of a run after an epoch."""

    epoch: int = 0
    best_epoch: int = 0
    best: dict[str, Any] = field(default_factory=dict)  # the weights of the best epoch
    history: list[dict[str, Any]] = field(default_factory=list)
    phase: int = 0  # its index in the schedule
    begun: int = 0  # the number of epochs before it

    @property
    def within(self) -> int:
        """The number of epochs of the phase that are finished."""
        return self.epoch - self.begun

    def go_on(self, afresh: bool) -> None:
        """Move on to the next phase; `afresh` forgets the best epoch so far."""
        self.phase, self.begun = self.phase + 1, self.epoch
        if afresh:
            self.best_epoch, self.best = 0, {}

    def add(self, record: dict[str, Any], scores: dict[str, Any], chosen_by_dev: bool, counts: bool = True) -> bool:
        """Add an epoch; returns whether it is the best so far.

        Without dev scores the last epoch is the best. An epoch that does not count is never the best.
        """
        record["dev" if chosen_by_dev else "train"] = numbers(scores)
        before = goodness(self.history[self.best_epoch - 1]["dev"]) if chosen_by_dev and self.best_epoch else None
        self.history.append(record)
        self.epoch = record["epoch"]
        better = counts and (before is None or goodness(scores) > before)
        if better:
            self.best_epoch = self.epoch
        return better

    def is_over(self, epochs: int, patience: int) -> bool:
        """Whether all epochs of the phase are finished, or `patience` epochs passed without a better one (0: no limit)."""
        return self.within >= epochs or (bool(patience) and self.epoch - self.best_epoch >= patience)


class Checkpoint(NamedTuple):
    path: Path
    identity: str = ""  # of the run: `fingerprint`
    every: float = 0.0  # seconds between two writes, at least


def write_checkpoint(checkpoint: Checkpoint, progress: Progress, arrays: Arrays) -> None:
    """`arrays` is what the engine needs to continue, and what was recorded along the way."""
    facts = {
        "identity": checkpoint.identity,
        "epoch": str(progress.epoch),
        "best_epoch": str(progress.best_epoch),
        "history": json.dumps(progress.history),
        "phase": str(progress.phase),
        "begun": str(progress.begun),
    }
    data = safetensors.numpy.save(arrays | under(BEST, progress.best), facts)
    write_all(checkpoint.path.parent, {checkpoint.path.name: data})


def read_checkpoint(checkpoint: Checkpoint) -> tuple[Progress, Arrays]:
    """What `write_checkpoint` wrote. The identity tells whether it is the same run over the same texts."""
    path = checkpoint.path
    with reading(path), safe_open(path, "np") as file:
        facts = file.metadata() or {}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        check_identity(path.parent, facts["identity"], checkpoint.identity)
        epoch, best_epoch, phase, begun = (int(facts[name]) for name in ("epoch", "best_epoch", "phase", "begun"))
        best, history = below(arrays, BEST), json.loads(facts["history"])
        return Progress(epoch, best_epoch, best, history, phase, begun), arrays


@contextmanager
def reading(path: Path) -> Iterator[None]:
    try:
        yield
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


def under(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with a prefix before their names."""
    return {f"{prefix}{name}": value for name, value in values.items()}


def below(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The values whose names have a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
