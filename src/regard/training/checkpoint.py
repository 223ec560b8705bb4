"""The progress of a run, and the checkpoint that a killed run is resumed from.

A checkpoint is one safetensors file that is replaced as a whole: weights, best weights, optimisers, history and
recorded dynamics. The state of random generators is not needed: random numbers depend only on seed, phase and epoch.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from regard.errors import InputError
from regard.files import write_all
from regard.models.flat import State
from regard.models.metrics_file import check_type
from regard.run_metrics import EpochRecord, Metrics
from regard.training.metrics import scalar_metrics, selection_score

Value = TypeVar("Value")
Arrays = dict[str, NDArray[Any]]
MODEL, BEST, RECORDED = "model/", "best/", "seen/"  # prefixes: current weights, best weights, recorded dynamics
IS_LAST = "best_is_last"  # a fact: the best weights are the current ones, and are not there twice
LARGEST_WEIGHT = 1e15  # whose products float32 can hold
LARGEST_SUM = 1e30  # of squared gradients


@dataclass
class Progress:
    """The state of a run after an epoch."""

    epoch: int = 0
    best_epoch: int = 0
    best: State = field(default_factory=dict)  # the weights of the best epoch
    history: list[EpochRecord] = field(default_factory=list)
    phase: int = 0  # its index in the schedule
    phase_start: int = 0  # the number of epochs before it

    @property
    def epochs_in_phase(self) -> int:
        """The number of finished epochs of the phase."""
        return self.epoch - self.phase_start

    def next_phase(self, reset_best: bool) -> None:
        """Move on to the next phase; `reset_best` forgets the best epoch so far."""
        self.phase, self.phase_start = self.phase + 1, self.epoch
        if reset_best:
            self.best_epoch, self.best = 0, {}

    def add(
        self, record: EpochRecord, scores: Metrics, is_dev: bool, may_be_best: bool = True, select: str = "accuracy"
    ) -> bool:
        """Add an epoch; returns whether it is the best so far.

        If the scores are not of dev texts, or if none of them is selected, the last epoch is the best.
        """
        before = None
        if is_dev:
            record["dev"] = scalar_metrics(scores)
            if self.best_epoch and select != "last":
                before = selection_score(self.history[self.best_epoch - 1]["dev"], select)
        else:
            record["train"] = scalar_metrics(scores)
        self.history.append(record)
        self.epoch = record["epoch"]
        better = may_be_best and (before is None or selection_score(scores, select) > before)
        if better:
            self.best_epoch = self.epoch
        return better

    def is_over(self, epochs: int, patience: int) -> bool:
        """Whether all epochs of the phase are finished, or `patience` epochs passed without a better one (0: no limit)."""
        return self.epochs_in_phase >= epochs or (bool(patience) and self.epoch - self.best_epoch >= patience)


class Checkpoint(NamedTuple):
    path: Path
    identity: str = ""  # the run's `fingerprint`
    every: float = 0.0  # minimum number of seconds between two writes
    writes: bool = True  # one process of a group does; the others only read it


def write_checkpoint(checkpoint: Checkpoint, progress: Progress, arrays: Arrays) -> None:
    """`arrays` is what the engine needs to continue, and the recorded dynamics."""
    facts = {
        "identity": checkpoint.identity,
        "epoch": str(progress.epoch),
        "best_epoch": str(progress.best_epoch),
        "history": json.dumps(progress.history),
        "phase": str(progress.phase),
        "begun": str(progress.phase_start),
    }
    best = progress.best
    if best and all(arrays.get(MODEL + name) is value for name, value in best.items()):
        facts, best = {**facts, IS_LAST: "yes"}, {}  # not written twice: half of the file, and of the time
    data = safetensors.numpy.save(arrays | add_prefix(BEST, best), facts)
    write_all(checkpoint.path.parent, {checkpoint.path.name: data})


def read_checkpoint(checkpoint: Checkpoint) -> tuple[Progress, Arrays]:
    """Read what `write_checkpoint` wrote. An error if it is of a run with other options or texts."""
    path = checkpoint.path
    with reading(path), safe_open(path, "np") as file:
        facts = file.metadata() or {}
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        check_identity(path.parent, facts["identity"], checkpoint.identity)
        if IS_LAST in facts:
            arrays |= add_prefix(BEST, strip_prefix(arrays, MODEL))
        epoch, best_epoch, phase, phase_start = (int(facts[name]) for name in ("epoch", "best_epoch", "phase", "begun"))
        best, history = strip_prefix(arrays, BEST), parse_history(facts["history"])
        if not (len(history) == epoch >= max(best_epoch, phase_start) and min(best_epoch, phase_start, phase) >= 0):
            raise ValueError("epochs")
        return Progress(epoch, best_epoch, best, history, phase, phase_start), arrays


def read_history(checkpoint: Checkpoint) -> list[EpochRecord]:
    """The epochs before the checkpoint, without reading the weights, and the same error."""
    with reading(checkpoint.path), safe_open(checkpoint.path, "np") as file:
        facts = file.metadata() or {}
        check_identity(checkpoint.path.parent, facts["identity"], checkpoint.identity)
        return parse_history(facts["history"])


def parse_history(text: str) -> list[EpochRecord]:
    """The records of epochs. ValueError or InputError unless each is complete and has what the first one has."""
    records: list[EpochRecord] = json.loads(text)
    check_type(records, list[EpochRecord], "history")
    for number, record in enumerate(records, 1):
        scores = {split: {*record[split]} for split in ("dev", "train") if split in record}
        complete = record.get("epoch") == number and {"loss", "seconds"} <= record.keys()
        if (
            not complete
            or len(scores) != 1
            or any({*records[0].get(split, ())} != one for split, one in scores.items())
        ):
            raise ValueError(f"epoch {number}")
        if not math.isfinite(record["loss"]) or not math.isfinite(record["seconds"]):
            raise ValueError(f"epoch {number}")
    return records


def check_weights(arrays: Arrays, expected: State, prefix: str, largest: float = LARGEST_WEIGHT) -> None:
    """ValueError unless the weights under a prefix have the names, shapes and types of a model's, and are not too large."""
    actual = strip_prefix(arrays, prefix)
    if {name: (value.shape, value.dtype) for name, value in actual.items()} != {
        name: (value.shape, value.dtype) for name, value in expected.items()
    }:
        raise ValueError(f"{prefix}: weights of another model")
    if not all(bool((np.abs(value) <= largest).all()) for value in actual.values()):
        raise ValueError(f"{prefix}: numbers that are not finite, or larger than {largest:g}")


def check_sums(arrays: Iterable[NDArray[Any]], where: str) -> None:
    """ValueError unless they can be sums of squared gradients; larger ones would overflow."""
    for value in arrays:
        if not bool(((value >= 0) & (value <= LARGEST_SUM)).all()):
            raise ValueError(f"{where}: numbers that are not from 0 to {LARGEST_SUM:g}")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OtherRunError:
        raise
    except (SafetensorError, LookupError, TypeError, ValueError, ArithmeticError, RuntimeError, OSError) as error:
        reason = f": {error}" if isinstance(error, InputError) else ""
        raise InputError(
            f"{path}: damaged checkpoint ({type(error).__name__}{reason}); start again with --overwrite instead of --resume"
        ) from None


class OtherRunError(InputError):
    """The checkpoint is not damaged, but of a run with other options or texts."""


def check_identity(folder: Path, stored: str, identity: str) -> None:
    if stored != identity:
        raise OtherRunError(
            f"{folder}: this run was started with other options or texts, or another number of processes; use the same ones to "
            "resume it, or another --out"
        )


def add_prefix(prefix: str, values: Mapping[str, Value]) -> dict[str, Value]:
    return {f"{prefix}{name}": value for name, value in values.items()}


def strip_prefix(values: Mapping[str, Value], prefix: str) -> dict[str, Value]:
    """The values whose names start with a prefix, under the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
