"""Training of two towers.

The loop has length-bucketed batches and early stopping on dev, but no checkpoints because runs are short.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import optim

from regard.config import Config, Training
from regard.data.collate import shuffled
from regard.data.tokenizer import Tokenizer
from regard.errors import InputError
from regard.models.device import choose_device
from regard.models.tasks import Regression
from regard.recorder import Recorder
from regard.records import Example
from regard.run_metrics import EpochRecord
from regard.training.checkpoint import Progress
from regard.training.defaults import DataSize, fill_defaults
from regard.training.divergence import checked_loss
from regard.training.fit_torch import learn_vocabulary
from regard.training.metrics import measure
from regard.training.optimizers import make_optimizer
from regard.training.step import RunningLoss, update_weights
from regard_lab.towers.ids import Ids
from regard_lab.towers.ratings import Rating, ReviewIndex, Side
from regard_lab.towers.trained_towers import TrainedTowers, answers, pair_to_device
from regard_lab.towers.two_towers import (
    OURS,
    Form,
    PairOutput,
    Readings,
    TwoTowers,
    build_towers,
    check_model,
    collate_pairs,
    joined,
)


class Pairs(NamedTuple):
    """The reviews that are read for each rating, and the normalised ratings."""

    readings: Sequence[Readings]
    labels: NDArray[np.float64]


def train_pairs(
    model: TwoTowers, task: Regression, pairs: Pairs, dev: Pairs, config: Training, recorder: Recorder
) -> Progress:
    """Train in place and leave the weights of the best epoch."""
    optimizer, progress = make_optimizer(model.named_parameters(), config), Progress()
    while not progress.is_over(config.epochs, config.patience):
        epoch, start = progress.epoch + 1, time.perf_counter()
        torch.manual_seed(config.seed * 100_003 + epoch)
        loss = run_epoch(model, task, pairs, config, epoch, optimizer, recorder)
        predictions, norms = answers(model, task, dev.readings)
        scores = measure(task, predictions[:, None], dev.labels)
        seconds = time.perf_counter() - start
        record: EpochRecord = {"epoch": epoch, "loss": loss, "seconds": seconds, "norms": norms}
        if progress.add(record, scores, is_dev=True):
            progress.best = {name: value.detach().cpu().clone().numpy() for name, value in model.state_dict().items()}
        recorder.end(record)
    model.load_state_dict({name: torch.from_numpy(value) for name, value in progress.best.items()})
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
    batches = shuffled([joined(both) for both in pairs.readings], config.batch_size, config.seed, epoch)
    recorder.begin(epoch, config.epochs, len(batches))
    running = RunningLoss(len(batches), device)
    for rows in batches:
        pair = pair_to_device(collate_pairs([pairs.readings[row] for row in rows], pairs.labels[rows]), device)
        assert pair.labels is not None
        with torch.autocast(device.type, torch.bfloat16, enabled=config.bf16):
            output: PairOutput = model(pair)
        loss = task.loss(output.logits, pair.labels)
        update_weights(loss, model, optimizer, config.clip)
        mean = running.add(loss.detach(), len(rows))
        recorder.step(None if mean is None else checked_loss(float(mean), f"epoch {epoch}, step {running.step}"))
    return float(running.mean)


def fit_pairs(
    config: Config,
    train: Sequence[Rating],
    dev: Sequence[Rating],
    recorder: Recorder,
    most: int | None = None,
    side: Side = "both",
    form: Form = OURS,
) -> TrainedTowers:
    """`max_words` limits each review, `most` the reviews per user and item. Unless `side` is "both", one tower reads nothing."""
    check_options(config, most, side, form)
    if not dev:
        raise InputError("two towers: expected dev ratings for early stopping, got none")
    task = rating_task(train, form, recorder)
    config = fill_defaults(config.override({"task": "regression", "engine": "torch"}), DataSize(len(train), 0))
    examples = [Example(rating.text) for rating in train]
    tokenizer, vectors = learn_vocabulary(config, examples, recorder)
    reading = Tokenizer(tokenizer.vocabulary, 2, tokenizer.lowercase, tokenizer.max_words)  # one review at a time
    torch.manual_seed(config.training.seed)
    device = choose_device(config.training.device)
    ids = Ids.of(train) if form.ids else Ids()
    model = build_towers(config.model, len(tokenizer), config.training.dropout, vectors, form, ids).to(device)
    if form.relu:
        torch.nn.init.constant_(model.head.bias, float(np.mean([rating.value for rating in train])))
    known, reviews = ReviewIndex(train), reading.encode_each([rating.text for rating in train])
    trained = TrainedTowers(model, task, reading, known, reviews, most, side, config, ids)
    pairs, dev_pairs = (paired(trained, ratings) for ratings in (train, dev))
    progress = train_pairs(model, task, pairs, dev_pairs, config.training, recorder)
    trained.metrics.update(
        {
            "epochs": progress.epoch,
            "best_epoch": progress.best_epoch,
            "seconds": sum(record["seconds"] for record in progress.history),
            "history": progress.history,
            "dev": progress.history[progress.best_epoch - 1]["dev"],
        }
    )
    return trained


def check_options(config: Config, most: int | None, side: Side, form: Form) -> None:
    check_model(config.model, form)
    if most is not None and most < 1:
        raise InputError(f"max_reviews: expected 1 or more, got {most}")
    if form.head == "product" and side != "both":
        raise InputError(f"side: expected both with head = product, because one side alone has no product, got {side}")
    if config.training.vtw:
        raise InputError(f"vtw: expected 0, because two towers have no such penalty, got {config.training.vtw}")
    if config.training.vtw_mapped:
        raise InputError(
            f"vtw_mapped: expected 0, because two towers have no such penalty, got {config.training.vtw_mapped}"
        )
    if config.training.record != "no":
        raise InputError(f"record: expected 'no', because two towers are not recorded, got {config.training.record!r}")
    if config.model.reads_pieces:
        raise InputError(f"encoder: expected one that reads words, got {config.model.encoder!r}")


def rating_task(train: Sequence[Rating], form: Form, recorder: Recorder) -> Regression:
    """Ratings are normalised for training, except with a ReLU, which is about the ratings themselves."""
    values = np.array([rating.value for rating in train])
    if len(values) < 2 or not values.std() > 0:
        raise InputError("two towers: expected at least two different training ratings, got only one value")
    if not form.relu:
        return Regression(float(values.mean()), float(values.std()))
    if not values.mean() > 0:
        raise InputError(
            f"relu: expected ratings with a mean above 0, because a ReLU predicts nothing below 0, got {values.mean():g}; "
            "leave out relu"
        )
    if below := int((values < 0).sum()):
        recorder.note(f"relu: {below:,} of {len(values):,} training ratings are below 0, where it predicts nothing")
    return Regression(0.0, 1.0)


def paired(trained: TrainedTowers, ratings: Sequence[Rating]) -> Pairs:
    labels = np.array([trained.task.encode(rating.value, f"row {rating.row}") for rating in ratings])
    return Pairs(trained.readings(trained.contexts(ratings)), labels)
