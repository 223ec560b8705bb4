"""The training loop: epochs of length-bucketed batches, early stopping on dev, a checkpoint after every epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, optim

from regard.analysis.dynamics import Dynamics
from regard.config import Training
from regard.data.collate import collate, shuffled
from regard.data.tokenizer import Indexed
from regard.models.classifier import Classifier
from regard.models.tasks import Task
from regard.models.trained import outputs
from regard.recording import Recorder
from regard.training.checkpoint import Progress, read_checkpoint, write_checkpoint
from regard.training.divergence import checked_answers, checked_loss
from regard.training.graphs import make_step
from regard.training.groups import groups, norms_of
from regard.training.metrics import measure
from regard.training.running import Running
from regard.training.statistics import Statistics
from regard.training.step import Step
from regard.values import Batch

RATES = {"adam": 3e-3, "adagrad": 0.05, "sgd": 0.1}


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
    device = model.embedding.weight.device
    optimizer = make_optimizer(model.named_parameters(), config)
    take = make_step(Step(model, task, config, optimizer))
    progress = Progress()
    if checkpoint is not None and checkpoint.exists():
        progress, seen = read_checkpoint(checkpoint, identity, model, optimizer)
        recorder.note(f"going on after epoch {progress.epoch}")
        if dynamics is not None:
            dynamics.go_on(seen)
    if dynamics is not None:
        dynamics.look(progress.epoch, model)
    while not progress.is_over(config.epochs, config.patience):
        epoch, begun = progress.epoch + 1, time.perf_counter()
        torch.manual_seed(config.seed * 100_003 + epoch)
        loss = run_epoch(model, task, texts, config, epoch, optimizer, device, recorder, take, dynamics)
        if dynamics is not None:
            dynamics.look(epoch, model)
        scores, statistics = evaluate(model, task, dev or texts)
        record = {"epoch": epoch, "loss": loss, "seconds": time.perf_counter() - begun, **statistics.as_dict()}
        if progress.add(record, scores, chosen_by_dev=dev is not None):
            progress.best = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
        recorder.end(record)
        if checkpoint is not None:
            seen = {} if dynamics is None else dynamics.arrays()
            write_checkpoint(checkpoint, identity, progress, model, optimizer, seen)
    model.load_state_dict(progress.best)
    model.eval()
    return progress


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
) -> float:
    """`take` learns from a batch and gives its loss: one object for all epochs keeps what it captured."""
    model.train()
    take = take or make_step(Step(model, task, config, optimizer))
    batches = shuffled(texts.indexed, config.batch_size, config.seed, epoch)
    recorder.begin(epoch, config.epochs, len(batches))
    running = Running(len(batches), device)
    for number, rows in enumerate(batches, 1):
        loss = take(collate([texts.indexed[row] for row in rows], len(model.levels), texts.labels[rows]))
        mean = running.add(loss, len(rows))
        recorder.step(None if mean is None else checked_loss(float(mean), f"epoch {epoch}, step {running.step}"))
        if dynamics is not None:
            dynamics.within(epoch, number, len(batches), model)
    return float(running.mean)


def evaluate(model: Classifier, task: Task, texts: Texts) -> tuple[dict[str, Any], Statistics]:
    """Scores of a model on texts, and what its attention did there."""
    statistics, answers = Statistics(), np.empty((len(texts.labels), 0))
    for rows, _, output in outputs(model, texts.indexed):
        part = checked_answers(task.answers(output.logits.double().cpu()))
        if not answers.size:
            answers = np.empty((len(texts.labels), part.shape[1]))
        answers[rows] = part
        statistics.add(output)
    return measure(task, answers, texts.labels), statistics


def make_optimizer(named: Iterable[tuple[str, Tensor]], config: Training) -> optim.Optimizer:
    """For weights by their names in the model."""
    weights = dict(named)
    rate = RATES[config.optimizer] if config.lr is None else config.lr
    learned = groups(weights.values(), norms_of(weights.items()), rate, config.norm_lr)
    if config.optimizer == "adam":
        # where a graph takes the steps, it must also count them
        on_cuda = any(weight.is_cuda for weight in weights.values())
        return optim.Adam(learned, rate, weight_decay=config.l2, fused=True, capturable=on_cuda)
    if config.optimizer == "adagrad":
        return optim.Adagrad(learned, rate, weight_decay=config.l2)
    return optim.SGD(learned, rate, weight_decay=config.l2)
