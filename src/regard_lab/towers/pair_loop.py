"""The training loop of two towers: length-bucketed batches, early stopping on dev, no checkpoints because runs are short."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import optim

from regard.config import Training
from regard.data.collate import in_order, shuffled
from regard.models.tasks import Regression
from regard.models.trained import BATCH, to_device
from regard.recorder import Recorder
from regard.training.checkpoint import Progress
from regard.training.divergence import checked_answers, checked_loss
from regard.training.metrics import measure
from regard.training.optimizers import make_optimizer
from regard.training.running import Running
from regard.training.statistics import Statistics
from regard.training.step import descend
from regard.values import Pair
from regard_lab.towers.collate_pairs import Readings, collate_pairs, together
from regard_lab.towers.two_towers import Met, TwoTowers


class Pairs(NamedTuple):
    """What is read for each rating, and the ratings, normalised."""

    readings: Sequence[Readings]
    labels: NDArray[np.float64]


def train_pairs(
    model: TwoTowers, task: Regression, pairs: Pairs, dev: Pairs, config: Training, recorder: Recorder
) -> Progress:
    """Train in place and leave the weights of the best epoch."""
    optimizer, progress = make_optimizer(model.named_parameters(), config), Progress()
    while not progress.is_over(config.epochs, config.patience):
        epoch, begun = progress.epoch + 1, time.perf_counter()
        torch.manual_seed(config.seed * 100_003 + epoch)
        loss = run_epoch(model, task, pairs, config, epoch, optimizer, recorder)
        said, norms = answers(model, task, dev.readings)
        scores = measure(task, said[:, None], dev.labels)
        record = {"epoch": epoch, "loss": loss, "seconds": time.perf_counter() - begun, "norms": norms}
        if progress.add(record, scores, chosen_by_dev=True):
            progress.best = {name: value.detach().cpu().clone() for name, value in model.state_dict().items()}
        recorder.end(record)
    model.load_state_dict(progress.best)
    model.eval()
    return progress


def run_epoch(
    model: TwoTowers,
    task: Regression,
    pairs: Pairs,
    config: Training,
    epoch: int,
    optimizer: optim.Optimizer,
    recorder: Recorder,
) -> float:
    model.train()
    device = model.embedding.weight.device
    batches = shuffled([together(both) for both in pairs.readings], config.batch_size, config.seed, epoch)
    recorder.begin(epoch, config.epochs, len(batches))
    running = Running(len(batches), device)
    for rows in batches:
        pair = on(collate_pairs([pairs.readings[row] for row in rows], pairs.labels[rows]), device)
        assert pair.labels is not None
        with torch.autocast(device.type, torch.bfloat16, enabled=config.bf16):
            met: Met = model(pair)
        loss = task.loss(met.logits, pair.labels)
        descend(loss, model, optimizer, config.clip)
        mean = running.add(loss.detach(), len(rows))
        recorder.step(None if mean is None else checked_loss(float(mean), f"epoch {epoch}, step {running.step}"))
    return float(running.mean)


def answers(
    model: TwoTowers, task: Regression, rows: Sequence[Readings]
) -> tuple[NDArray[np.float64], dict[str, dict[str, float]]]:
    """Ratings in their own unit, and the norms p on the way: "user_words" and so on."""
    said, statistics = np.empty(len(rows)), (Statistics(), Statistics())
    for places, met in outputs(model, rows):
        said[places] = checked_answers(task.answers(met.logits.double().cpu()))[:, 0]
        for gathered, side in zip(statistics, met.sides, strict=True):
            gathered.add(side)
    norms = {
        f"{name}_{level}": spread
        for name, gathered in zip(("user", "item"), statistics, strict=True)
        for level, spread in gathered.as_dict()["norms"].items()
    }
    return said, norms


def outputs(model: TwoTowers, rows: Sequence[Readings]) -> Iterator[tuple[NDArray[np.int64], Met]]:
    """Every meeting once, in batches of like length, without gradients."""
    device = model.embedding.weight.device
    model.eval()
    for places in in_order([together(both) for both in rows], BATCH):
        with torch.inference_mode():
            yield places, model(on(collate_pairs([rows[place] for place in places]), device))


def on(pair: Pair, device: torch.device) -> Pair:
    labels = None if pair.labels is None else pair.labels.to(device)
    return Pair(to_device(pair.user, device), to_device(pair.item, device), labels)
