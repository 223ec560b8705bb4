"""The training loop, the same for all engines: phases of epochs, early stopping, best weights, checkpoints.

An engine owns weights, texts, optimisers and random numbers. The loop owns the bookkeeping: which epoch of which phase
comes next, when training stops, which weights are the best, what is recorded, and when a checkpoint is written.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np

from regard.errors import InputError
from regard.models.flat import State
from regard.recorder import Recorder
from regard.run_metrics import EpochRecord, EvaluationRecord, Metrics
from regard.training.checkpoint import (
    BEST,
    MODEL,
    RECORDED,
    Arrays,
    Checkpoint,
    Progress,
    add_prefix,
    check_weights,
    read_checkpoint,
    reading,
    strip_prefix,
    write_checkpoint,
)
from regard.training.divergence import checked_loss
from regard.training.schedule import Phase

if TYPE_CHECKING:
    from regard.analysis.dynamics import Dynamics


class EpochPlan(NamedTuple):
    """One epoch of one phase."""

    phase: Phase
    epoch: int  # counted over all phases, from 1
    epoch_in_phase: int  # counted from 1
    phase_index: int = 0  # of the phase in the schedule
    active: Sequence[int] = (0,)  # the models that are still training

    @property
    def seed(self) -> int:
        """Combined with the seed of the run. It does not depend on how many epochs earlier phases had."""
        return (self.phase_index << 20) + self.epoch_in_phase

    @property
    def where(self) -> str:
        """For error messages."""
        return f"epoch {self.epoch}" + (f" ({self.phase.title})" if self.phase.title else "")


class Evaluation(NamedTuple):
    scores: Metrics  # compared for early stopping
    facts: EvaluationRecord  # further entries in the record of the epoch
    is_dev: bool  # otherwise the scores are of training texts, and the last epoch is the best
    select: str = "accuracy"  # the score that decides which epoch is the best, or "last"


class Engine(Protocol):
    """Trains one model, or several models of different seeds side by side."""

    @property
    def models(self) -> int:
        """How many models are trained side by side."""

    @property
    def phases(self) -> Sequence[Phase]: ...

    def begin_phase(self, index: int, recorder: Recorder) -> None:
        """Called before the first epoch of a phase in this process: freeze, capture, precompute. No random numbers."""

    def run_epoch(self, plan: EpochPlan, recorder: Recorder, dynamics: Dynamics | None) -> Sequence[float]:
        """One pass over the training texts. Returns the mean loss of each model.

        Reports `begin` and `step` to the recorder. Random numbers depend on the seed of the run and the plan only.
        """

    def evaluate(self, phase: Phase) -> Sequence[Evaluation | InputError]:
        """Each model on the dev texts, or on training texts if there are none. No random numbers."""

    def weights(self, model: int, copied: bool = True, into: State | None = None) -> State:
        """A copy of a model's weights, which may overwrite the arrays `into`, an earlier copy.

        Unless `copied`, they may be those that the next epoch changes.
        """

    def load(self, weights: State, model: int) -> None: ...


class ResumableEngine(Engine, Protocol):
    """Trains one model, and can write what it has done so far into a checkpoint."""

    def state(self) -> Arrays:
        """What a checkpoint needs besides the entries of the loop: "model/…" and the optimiser's state."""

    def restore(self, arrays: Arrays) -> None: ...


def train(
    engine: ResumableEngine, recorder: Recorder, checkpoint: Checkpoint | None = None, dynamics: Dynamics | None = None
) -> Progress:
    """Train an engine's only model, resuming from the checkpoint if there is one. The best weights are left in the engine."""
    loop = ResumableLoop(engine, recorder, checkpoint, dynamics)
    loop.resume()
    try:
        (run,) = loop.run()
        if isinstance(run, InputError):
            raise run
    except InputError as error:
        if checkpoint is None or not checkpoint.path.exists():
            raise
        raise InputError(f"{error}; the last checkpoint is kept in {checkpoint.path}") from None
    return run


def train_side_by_side(engine: Engine, recorder: Recorder) -> list[Progress | InputError]:
    """Train several models without checkpoints: the progress of each, or the error that ended its training.

    A model that has stopped or diverged is still computed with the others, but no longer evaluated.
    """
    return Loop(engine, recorder).run()


class Loop:
    """The bookkeeping of one training run."""

    def __init__(self, engine: Engine, recorder: Recorder, dynamics: Dynamics | None = None) -> None:
        self.engine, self.recorder, self.dynamics = engine, recorder, dynamics
        self.runs: list[Progress | InputError] = [Progress() for _ in range(engine.models)]
        self.first_phase = 0

    def run(self) -> list[Progress | InputError]:
        for index in range(self.first_phase, len(self.engine.phases)):
            if index > self.first_phase:
                self.next_phase(self.engine.phases[index])
            self.run_phase(index)
        for model, progress in self.running():
            self.engine.load(progress.best, model)
        return self.runs

    def running(self) -> Iterator[tuple[int, Progress]]:
        """The models that have not diverged."""
        yield from ((model, run) for model, run in enumerate(self.runs) if isinstance(run, Progress))

    def next_phase(self, phase: Phase) -> None:
        """Move on to a phase, which may start from the best weights so far."""
        for model, progress in self.running():
            if phase.starts_from_best:
                self.engine.load(progress.best, model)
            progress.next_phase(phase.starts_from_best)

    def run_phase(self, index: int) -> None:
        phase, start, is_begun = self.engine.phases[index], time.perf_counter(), False
        while active := {
            model: progress for model, progress in self.running() if not progress.is_over(phase.epochs, phase.patience)
        }:
            if not is_begun:  # a phase that was finished before the checkpoint is not begun again
                if phase.title:
                    self.recorder.enter(phase.title)
                self.engine.begin_phase(index, self.recorder)
                is_begun = True
            any_run = next(iter(active.values()))  # all active models are in the same epoch
            plan = EpochPlan(phase, any_run.epoch + 1, any_run.epochs_in_phase + 1, index, tuple(active))
            self.run_epoch(plan, active, start)
            self.save()
            start = time.perf_counter()

    def run_epoch(self, plan: EpochPlan, active: Mapping[int, Progress], start: float) -> None:
        losses = self.engine.run_epoch(plan, self.recorder, self.dynamics)
        if self.dynamics is not None:
            self.dynamics.record(plan.epoch)
        evaluations = self.engine.evaluate(plan.phase)
        seconds = (time.perf_counter() - start) / len(active)
        records = []
        for model, progress in active.items():
            epoch, evaluation = progress.epoch + 1, evaluations[model]
            try:
                loss = checked_loss(losses[model], f"epoch {epoch}", plan.phase.remedy)
                if isinstance(evaluation, InputError):
                    raise evaluation
            except InputError as error:
                self.runs[model] = error
                continue
            record: EpochRecord = {
                "epoch": epoch,
                **plan.phase.facts,
                "loss": loss,
                "seconds": seconds,
                **evaluation.facts,
            }
            may_be_best = plan.phase.may_be_best
            if progress.add(record, evaluation.scores, evaluation.is_dev, may_be_best, evaluation.select):
                # where the last epoch is the best, nothing would ever read a copy of an earlier one
                is_last = evaluation.select == "last" or plan.epoch_in_phase == plan.phase.epochs
                copied = len(self.engine.phases) > 1 or not is_last
                progress.best = self.engine.weights(model, copied, progress.best)
            records.append(record)
        if records:
            self.recorder.end(records[0] if len(records) == 1 else cast(EpochRecord, mean(records)))

    def save(self) -> None:
        """Called after every epoch; there is nothing to save without checkpoints."""


class ResumableLoop(Loop):
    """The same for one model, with a checkpoint from which a killed run continues."""

    def __init__(
        self, engine: ResumableEngine, recorder: Recorder, checkpoint: Checkpoint | None, dynamics: Dynamics | None
    ) -> None:
        super().__init__(engine, recorder, dynamics)
        self.resumable, self.checkpoint = engine, checkpoint
        self.saved = time.perf_counter()

    def resume(self) -> None:
        """Continue after the last epoch in the checkpoint, if there is one."""
        if self.checkpoint is not None and self.checkpoint.path.exists():
            progress, arrays = read_checkpoint(self.checkpoint)
            with reading(self.checkpoint.path):
                title = self.engine.phases[progress.phase].title
                check_weights(arrays, self.engine.weights(0), MODEL)
                if progress.best_epoch:
                    check_weights(arrays, self.engine.weights(0), BEST)
                self.resumable.restore(arrays)
                if self.dynamics is not None:
                    self.dynamics.resume(strip_prefix(arrays, RECORDED))
                    self.dynamics.record(progress.epoch)
            self.recorder.note(f"resuming after epoch {progress.epoch}" + (f" ({title})" if title else ""))
            self.runs, self.first_phase = [progress], progress.phase
        elif self.dynamics is not None:
            self.dynamics.record(0)

    def save(self) -> None:
        """Write a checkpoint, unless the last one is recent or the model has diverged."""
        checkpoint = self.checkpoint
        if checkpoint is None or not checkpoint.writes or time.perf_counter() - self.saved < checkpoint.every:
            return
        (progress,) = self.runs
        if isinstance(progress, InputError):
            return
        seen = {} if self.dynamics is None else self.dynamics.arrays()
        write_checkpoint(checkpoint, progress, self.resumable.state() | add_prefix(RECORDED, seen))
        self.saved = time.perf_counter()


def mean(records: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The mean of each number that all records have."""
    shared = [name for name in records[0] if all(name in record for record in records)]
    return {name: mean_of([record[name] for record in records]) for name in shared}


def mean_of(values: Sequence[Any]) -> Any:
    if isinstance(values[0], str):
        return values[0]  # the name of the phase, which they share
    return mean(values) if isinstance(values[0], dict) else type(values[0])(np.mean(values))
