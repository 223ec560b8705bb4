"""The training loop: phases of epochs of length-bucketed batches, early stopping on dev, a checkpoint after every epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, optim

from regard.analysis.dynamics import Dynamics
from regard.config import Training
from regard.data.collate import collate, shuffled
from regard.data.tokenizer import Indexed
from regard.models.classifier import LABEL, Classifier, Level
from regard.models.tasks import Task
from regard.models.trained import outputs
from regard.recording import Recorder
from regard.training.checkpoint import Progress, read_checkpoint, write_checkpoint
from regard.training.divergence import checked_loss
from regard.training.graphs import make_step
from regard.training.passes import Pass
from regard.training.running import Running
from regard.training.schedule import Phase, comes_again, ordinary, schedule
from regard.training.stage import allow, make_stages, set_modes
from regard.training.states import States
from regard.training.statistics import Statistics
from regard.training.step import Step
from regard.values import Batch


class Texts(NamedTuple):
    """Indexed texts and their encoded labels."""

    indexed: Sequence[Indexed]
    labels: NDArray[np.float64]


def train(
    model: Classifier,
    task: Task,
    texts: Texts,
    dev: Texts | None,
    config: Training,
    recorder: Recorder,
    checkpoint: Path | None = None,
    identity: str = "",
    dynamics: Dynamics | None = None,
) -> Progress:
    """Train a model in place and leave it with the weights of its best epoch. `dynamics` looks on."""
    phases, weights = schedule(config, len(model.levels)), dict(model.named_parameters())
    learnable = [name for name, weight in weights.items() if weight.requires_grad]
    stages = make_stages(phases, weights, config)
    optimizers = {name: stage.optimizer for name, stage in stages.items()}
    benches: dict[str, Bench] = {}
    progress = Progress()
    if checkpoint is not None and checkpoint.exists():
        progress, seen = read_checkpoint(checkpoint, identity, model, optimizers)
        title = phases[progress.phase].title
        recorder.note(f"going on after epoch {progress.epoch}" + (f" ({title})" if title else ""))
        if dynamics is not None:
            dynamics.go_on(seen)
    if dynamics is not None:
        dynamics.look(progress.epoch, model)
    while True:
        phase, stage = phases[progress.phase], stages[phases[progress.phase].name]
        begun = time.perf_counter()
        if not progress.is_over(phase.epochs, phase.patience):
            stage.enter(weights)
            bench = enter(phase, benches, model, task, texts, config, stage.optimizer, recorder)
        while not progress.is_over(phase.epochs, phase.patience):
            epoch = progress.epoch + 1
            turn = Turn(phase, progress.within + 1, progress.phase)
            torch.manual_seed(config.seed * 100_003 + turn.chance)
            given = (model, task, texts, config, epoch, stage.optimizer, model.embedding.weight.device, recorder)
            loss = run_epoch(*given, bench.take, dynamics, turn, bench.kept)
            if dynamics is not None:
                dynamics.look(epoch, model)
            scores, statistics = evaluate(model, task, dev or texts, phase.remedy)
            record = {"epoch": epoch, **phase.facts, "loss": loss, "seconds": time.perf_counter() - begun}
            record |= statistics.as_dict()
            if progress.add(record, scores, dev is not None, phase.counts):
                progress.best = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
            recorder.end(record)
            if checkpoint is not None:
                seen = {} if dynamics is None else dynamics.arrays()
                write_checkpoint(checkpoint, identity, progress, model, optimizers, seen)
            begun = time.perf_counter()
        if progress.phase + 1 == len(phases):
            break
        if not comes_again(phases, progress.phase):
            benches.pop(phase.name, None)  # what it captured holds memory
        if phases[progress.phase + 1].afresh:
            model.load_state_dict(progress.best)
        progress.go_on(phases[progress.phase + 1].afresh)
    allow(weights, learnable)
    model.load_state_dict(progress.best)
    model.eval()
    return progress


class Turn(NamedTuple):
    """An epoch of a phase."""

    phase: Phase
    within: int  # the how manieth of its phase
    place: int = 0  # of the phase in the schedule

    @property
    def chance(self) -> int:
        """What its chance is a function of, beside the seed: not of how many epochs the phases before it had."""
        return (self.place << 20) + self.within


class Bench(NamedTuple):
    """What learns from batches in the phases of one name, and the states that it reads instead of words, where it does."""

    take: Callable[[Batch], Tensor]
    kept: States | None


def enter(
    phase: Phase,
    benches: dict[str, Bench],
    model: Classifier,
    task: Task,
    texts: Texts,
    config: Training,
    optimizer: optim.Optimizer,
    recorder: Recorder,
) -> Bench:
    """Begin a phase, or go on in it. What was captured for its name in another round is used again."""
    if phase.title:
        recorder.enter(phase.title)
    known = benches.get(phase.name)
    kept = known.kept if known else keep_states(phase, model, texts)
    if kept is not None and not kept.fill(model, texts.indexed, config.bf16):
        recorder.note("the encoder's states are too many to keep: they are computed at every step")
        kept = None
    if known is None:
        benches[phase.name] = Bench(make_step(Step(model, task, config, optimizer, phase, kept)), kept)
    return benches[phase.name]


def keep_states(phase: Phase, model: Classifier, texts: Texts) -> States | None:
    """A place for the top level's states, where a phase lets nothing below them learn, nor drop anything."""
    if cast(Level, model.levels[-1]).pooling.reads_summary:
        return None
    names = [name for name, _ in model.named_parameters()] + [f"{name}." for name, _ in model.named_modules()]
    moves = any(phase.learns(name) and not model.is_above_states(name) for name in names)
    return None if moves else States(texts.indexed, len(model.levels))


def run_epoch(
    model: Classifier,
    task: Task,
    texts: Texts,
    config: Training,
    epoch: int,
    optimizer: optim.Optimizer,
    device: torch.device,
    recorder: Recorder,
    take: Callable[[Batch], Tensor] | None = None,
    dynamics: Dynamics | None = None,
    turn: Turn | None = None,
    kept: States | None = None,
) -> float:
    """`take` learns from a batch and gives its loss: one object for all epochs keeps what it captured. `epoch` counts all
    that went before; `turn` says of which phase it is."""
    turn = turn or Turn(ordinary(config), epoch)
    set_modes(turn.phase, model)
    take = take or make_step(Step(model, task, config, optimizer))
    batches = shuffled(texts.indexed, config.batch_size, config.seed, turn.chance)
    recorder.begin(turn.within, turn.phase.epochs, len(batches))
    running = Running(len(batches), device)
    where = f"epoch {epoch}" + (f" ({turn.phase.title})" if turn.phase.title else "")
    for number, rows in enumerate(batches, 1):
        if kept is None:
            batch = collate([texts.indexed[row] for row in rows], len(model.levels), texts.labels[rows])
        else:
            batch = kept.batch(rows, texts.labels[rows])
        mean = running.add(take(batch), len(rows))
        told = (f"{where}, step {running.step}", turn.phase.remedy)
        recorder.step(None if mean is None else checked_loss(float(mean), *told))
        if dynamics is not None:
            dynamics.within(epoch, number, len(batches), model)
    return float(running.mean)


def evaluate(model: Classifier, task: Task, texts: Texts, remedy: str = "lr") -> tuple[dict[str, Any], Statistics]:
    """Scores of a model on texts, and what its attention did there; `remedy` is for one that went astray."""
    found = Pass(task, texts.labels)
    for rows, _, output in outputs(model, texts.indexed):
        found.add(rows, {**output.heads, LABEL: output.logits})
        found.statistics.add(output)
    return found.result(remedy)
