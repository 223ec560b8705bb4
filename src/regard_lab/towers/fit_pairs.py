"""Fitting two towers: the words of the known reviews, what is read for every rating, the loop; and what is said of each side.

The loop has length-bucketed batches and early stopping on dev, and no checkpoints because runs are short. The effect of a user
is the mean answer over all items, whether or not there is such a rating, so that the items that a user happened to rate don't
come in; likewise that of an item. Nothing is to be rated there, so all known reviews are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import optim

from regard.config import Config, Training
from regard.data.collate import collate, in_order, shuffled
from regard.data.tokenizer import Indexed, Tokenizer
from regard.errors import InputError
from regard.models.tasks import Regression
from regard.models.trained import BATCH, to_device
from regard.recorder import Recorder
from regard.records import Example
from regard.training.checkpoint import Progress
from regard.training.defaults import DataSize, fill_defaults
from regard.training.device import choose_device
from regard.training.divergence import checked_answers, checked_loss
from regard.training.evaluation import AttentionStatistics
from regard.training.fit_torch import learn_vocabulary
from regard.training.metrics import measure
from regard.training.optimizers import make_optimizer
from regard.training.step import RunningLoss, update_weights
from regard.values import Pair
from regard_lab.towers.ratings import Rating, ReviewContext, ReviewIndex, Side
from regard_lab.towers.two_towers import (
    LEVELS,
    PairOutput,
    Readings,
    TwoTowers,
    build_towers,
    collate_pairs,
    gather,
    readings,
    together,
)


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
        if progress.add(record, scores, is_dev=True):
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
    running = RunningLoss(len(batches), device)
    for rows in batches:
        pair = on(collate_pairs([pairs.readings[row] for row in rows], pairs.labels[rows]), device)
        assert pair.labels is not None
        with torch.autocast(device.type, torch.bfloat16, enabled=config.bf16):
            met: PairOutput = model(pair)
        loss = task.loss(met.logits, pair.labels)
        update_weights(loss, model, optimizer, config.clip)
        mean = running.add(loss.detach(), len(rows))
        recorder.step(None if mean is None else checked_loss(float(mean), f"epoch {epoch}, step {running.step}"))
    return float(running.mean)


def answers(
    model: TwoTowers, task: Regression, rows: Sequence[Readings]
) -> tuple[NDArray[np.float64], dict[str, dict[str, float]]]:
    """Ratings in their own unit, and the norms p on the way: "user_words" and so on."""
    said, statistics = np.empty(len(rows)), (AttentionStatistics(), AttentionStatistics())
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


def outputs(model: TwoTowers, rows: Sequence[Readings]) -> Iterator[tuple[NDArray[np.int64], PairOutput]]:
    """Every meeting once, in batches of like length, without gradients."""
    device = model.embedding.weight.device
    model.eval()
    for places in in_order([together(both) for both in rows], BATCH):
        with torch.inference_mode():
            yield places, model(on(collate_pairs([rows[place] for place in places]), device))


def on(pair: Pair, device: torch.device) -> Pair:
    labels = None if pair.labels is None else pair.labels.to(device)
    return Pair(to_device(pair.user, device), to_device(pair.item, device), labels)


@dataclass(frozen=True)
class TrainedTowers:
    """A model with what it may read: the training reviews, and no more than `most` of them a user or item."""

    model: TwoTowers
    task: Regression
    tokenizer: Tokenizer
    known: ReviewIndex
    reviews: Sequence[Indexed]  # the known ones, in their order
    most: int | None
    side: Side
    config: Config
    metrics: dict[str, Any] = field(default_factory=dict)

    def knowing(self, ratings: Sequence[Rating]) -> TrainedTowers:
        """The same model among other people and things: these reviews are read in place of those it was trained on."""
        return replace(
            self, known=ReviewIndex(ratings), reviews=self.tokenizer.encode_each([rating.text for rating in ratings])
        )

    def meetings(self, ratings: Sequence[Rating]) -> list[ReviewContext]:
        return [self.known.meeting(rating, self.most, self.side) for rating in ratings]

    def answers(self, ratings: Sequence[Rating]) -> NDArray[np.float64]:
        """What it says, in the unit of the ratings; it never sees their own texts."""
        return self.said(self.meetings(ratings))

    def said(self, meetings: Sequence[ReviewContext]) -> NDArray[np.float64]:
        return answers(self.model, self.task, readings(meetings, self.reviews))[0]


def fit_pairs(
    config: Config,
    train: Sequence[Rating],
    dev: Sequence[Rating],
    recorder: Recorder,
    most: int | None = None,
    side: Side = "both",
) -> TrainedTowers:
    """`max_words` cuts each review, `most` the reviews of each user and item. Without `side` "both", one tower sees nothing."""
    if most is not None and most < 1:
        raise InputError(f"max_reviews = {most}: a whole number of at least 1 is accepted")
    if config.training.vtw:
        raise InputError(f"vtw = {config.training.vtw}: two towers have no such penalty; 0 is accepted")
    if config.training.vtw_mapped:
        raise InputError(f"vtw_mapped = {config.training.vtw_mapped}: two towers have no such penalty; 0 is accepted")
    if config.training.record != "no":
        raise InputError(f"record = {config.training.record!r}: two towers are not recorded; 'no' is accepted")
    if config.model.reads_pieces:
        raise InputError(f"encoder = {config.model.encoder!r}: two towers read words; another than 'bert' is accepted")
    if not dev:
        raise InputError("two towers need dev ratings to stop early by; none are given")
    values = np.array([rating.value for rating in train])
    if len(values) < 2 or not values.std() > 0:
        raise InputError("the training ratings are all the same; at least two different numbers are needed")
    task = Regression(float(values.mean()), float(values.std()))
    config = fill_defaults(config.override({"task": "regression", "engine": "torch"}), DataSize(len(train), 0))
    examples = [Example(rating.text) for rating in train]
    tokenizer, vectors = learn_vocabulary(config, examples, recorder)
    reading = Tokenizer(tokenizer.vocabulary, 2, tokenizer.lowercase, tokenizer.max_words)  # a review at a time
    torch.manual_seed(config.training.seed)
    device = choose_device(config.training.device)
    model = build_towers(config.model, len(tokenizer), config.training.dropout, vectors).to(device)
    known, reviews = ReviewIndex(train), reading.encode_each([rating.text for rating in train])
    trained = TrainedTowers(model, task, reading, known, reviews, most, side, config)
    learned, held = (paired(trained, ratings) for ratings in (train, dev))
    progress = train_pairs(model, task, learned, held, config.training, recorder)
    trained.metrics.update(
        epochs=progress.epoch,
        best_epoch=progress.best_epoch,
        seconds=sum(record["seconds"] for record in progress.history),
        history=progress.history,
        dev=progress.history[progress.best_epoch - 1]["dev"],
    )
    return trained


def paired(trained: TrainedTowers, ratings: Sequence[Rating]) -> Pairs:
    labels = np.array([trained.task.encode(rating.value, f"row {rating.row}") for rating in ratings])
    return Pairs(readings(trained.meetings(ratings), trained.reviews), labels)


def predicted_effects(trained: TrainedTowers) -> tuple[dict[str, float], dict[str, float]]:
    """Of each user and of each item of the known reviews: the mean answer less the mean of all answers."""
    known, model = trained.known, trained.model.eval()

    def reading(places: Iterable[int]) -> Indexed:
        return gather([trained.reviews[place] for place in list(places)[: trained.most]])

    users = [reading(places if trained.side != "item" else ()) for places in known.by_user.values()]
    items = [reading(places if trained.side != "user" else ()) for places in known.by_item.values()]
    with torch.inference_mode():
        left, right = vectors(trained, users, user=True), vectors(trained, items, user=False)
        grid = trained.task.answers(model.meet(*spread(left, right)).squeeze(-1).double().cpu())  # (users, items)
    return (
        dict(zip(known.by_user, centred(grid.mean(1)), strict=True)),
        dict(zip(known.by_item, centred(grid.mean(0)), strict=True)),
    )


def vectors(trained: TrainedTowers, texts: Sequence[Indexed], user: bool) -> torch.Tensor:
    """(texts, D)"""
    model = trained.model
    device, read = model.embedding.weight.device, model.read_user if user else model.read_item
    places, found = in_order(texts, BATCH), []
    for rows in places:
        found.append(read(to_device(collate([texts[row] for row in rows], LEVELS), device))[-1].pooled.vector)
    order = torch.from_numpy(np.concatenate(places)).to(device)
    return torch.cat(found)[order.argsort()]


def spread(users: torch.Tensor, items: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(users, D), (items, D) -> both (users, items, D)"""
    shape = (len(users), len(items), users.size(1))
    return users.unsqueeze(1).expand(shape), items.unsqueeze(0).expand(shape)


def centred(values: NDArray[np.float64]) -> list[float]:
    found: list[float] = (values - values.mean()).tolist()
    return found
