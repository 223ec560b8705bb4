"""Training of two towers, and the effects of users and items that they predict.

The loop has length-bucketed batches and early stopping on dev, but no checkpoints because runs are short. The effect of a user
is the mean prediction over all items, so that it does not depend on which items the user happened to rate; likewise for items.
No rating is predicted there, so all reviews of the index are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import optim

from regard.config import Config, Training
from regard.data.collate import collate, in_order, shuffled
from regard.data.tokenizer import Indexed, Tokenizer
from regard.errors import InputError
from regard.models.device import choose_device
from regard.models.tasks import Regression
from regard.models.trained import BATCH, to_device
from regard.recorder import Recorder
from regard.records import Example
from regard.run_metrics import EpochRecord, Scores, SpreadRecord
from regard.training.checkpoint import Progress
from regard.training.defaults import DataSize, fill_defaults
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
    joined,
    readings,
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


def answers(
    model: TwoTowers, task: Regression, rows: Sequence[Readings]
) -> tuple[NDArray[np.float64], dict[str, SpreadRecord]]:
    """Predicted ratings in the original unit, and the norms p: "user_words" and so on."""
    predictions, statistics = np.empty(len(rows)), (AttentionStatistics(), AttentionStatistics())
    for indices, output in outputs(model, rows):
        predictions[indices] = checked_answers(task.answers(output.logits.double().cpu()))[:, 0]
        for statistic, side in zip(statistics, output.sides, strict=True):
            statistic.add(side)
    norms = {
        f"{name}_{level}": spread
        for name, statistic in zip(("user", "item"), statistics, strict=True)
        for level, spread in statistic.as_dict()["norms"].items()
    }
    return predictions, norms


def outputs(model: TwoTowers, rows: Sequence[Readings]) -> Iterator[tuple[NDArray[np.int64], PairOutput]]:
    """Every pair once, in batches of similar length, without gradients."""
    device = model.embedding.weight.device
    model.eval()
    for indices in in_order([joined(both) for both in rows], BATCH):
        with torch.inference_mode():
            yield indices, model(pair_to_device(collate_pairs([rows[index] for index in indices]), device))


def pair_to_device(pair: Pair, device: torch.device) -> Pair:
    labels = None if pair.labels is None else pair.labels.to(device)
    return Pair(to_device(pair.user, device), to_device(pair.item, device), labels)


class TowerMetrics(TypedDict, total=False):
    epochs: int
    best_epoch: int
    seconds: float
    history: list[EpochRecord]
    dev: Scores


@dataclass(frozen=True)
class TrainedTowers:
    """A model with the reviews that it may read: the training reviews, at most `most` per user or item."""

    model: TwoTowers
    task: Regression
    tokenizer: Tokenizer
    known: ReviewIndex
    reviews: Sequence[Indexed]  # those of the index, in its order
    most: int | None
    side: Side
    config: Config
    metrics: TowerMetrics = field(default_factory=TowerMetrics)

    def with_reviews(self, ratings: Sequence[Rating]) -> TrainedTowers:
        """The same model for other users and items: it reads these reviews instead of those that it was trained on."""
        return replace(
            self, known=ReviewIndex(ratings), reviews=self.tokenizer.encode_each([rating.text for rating in ratings])
        )

    def contexts(self, ratings: Sequence[Rating]) -> list[ReviewContext]:
        return [self.known.context(rating, self.most, self.side) for rating in ratings]

    def answers(self, ratings: Sequence[Rating]) -> NDArray[np.float64]:
        """Predictions in the unit of the ratings; the texts of these ratings are never read."""
        return self.predict(self.contexts(ratings))

    def predict(self, contexts: Sequence[ReviewContext]) -> NDArray[np.float64]:
        return answers(self.model, self.task, readings(contexts, self.reviews))[0]


def fit_pairs(
    config: Config,
    train: Sequence[Rating],
    dev: Sequence[Rating],
    recorder: Recorder,
    most: int | None = None,
    side: Side = "both",
) -> TrainedTowers:
    """`max_words` limits each review, `most` the reviews per user and item. Unless `side` is "both", one tower reads nothing."""
    if most is not None and most < 1:
        raise InputError(f"max_reviews: expected 1 or more, got {most}")
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
    if not dev:
        raise InputError("two towers: expected dev ratings for early stopping, got none")
    values = np.array([rating.value for rating in train])
    if len(values) < 2 or not values.std() > 0:
        raise InputError("two towers: expected at least two different training ratings, got only one value")
    task = Regression(float(values.mean()), float(values.std()))
    config = fill_defaults(config.override({"task": "regression", "engine": "torch"}), DataSize(len(train), 0))
    examples = [Example(rating.text) for rating in train]
    tokenizer, vectors = learn_vocabulary(config, examples, recorder)
    reading = Tokenizer(tokenizer.vocabulary, 2, tokenizer.lowercase, tokenizer.max_words)  # one review at a time
    torch.manual_seed(config.training.seed)
    device = choose_device(config.training.device)
    model = build_towers(config.model, len(tokenizer), config.training.dropout, vectors).to(device)
    known, reviews = ReviewIndex(train), reading.encode_each([rating.text for rating in train])
    trained = TrainedTowers(model, task, reading, known, reviews, most, side, config)
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


def paired(trained: TrainedTowers, ratings: Sequence[Rating]) -> Pairs:
    labels = np.array([trained.task.encode(rating.value, f"row {rating.row}") for rating in ratings])
    return Pairs(readings(trained.contexts(ratings), trained.reviews), labels)


def predicted_effects(trained: TrainedTowers) -> tuple[dict[str, float], dict[str, float]]:
    """For each user and item of the index: its mean prediction minus the mean of all predictions."""
    known, model = trained.known, trained.model.eval()

    def reading(indices: Iterable[int]) -> Indexed:
        return gather([trained.reviews[index] for index in list(indices)[: trained.most]])

    users = [reading(indices if trained.side != "item" else ()) for indices in known.by_user.values()]
    items = [reading(indices if trained.side != "user" else ()) for indices in known.by_item.values()]
    with torch.inference_mode():
        left, right = vectors(trained, users, user=True), vectors(trained, items, user=False)
        grid = trained.task.answers(model.rate(*spread(left, right)).squeeze(-1).double().cpu())  # (users, items)
    return (
        dict(zip(known.by_user, centred(grid.mean(1)), strict=True)),
        dict(zip(known.by_item, centred(grid.mean(0)), strict=True)),
    )


def vectors(trained: TrainedTowers, texts: Sequence[Indexed], user: bool) -> torch.Tensor:
    """(texts, D)"""
    model = trained.model
    device, read = model.embedding.weight.device, model.read_user if user else model.read_item
    batches, pooled = in_order(texts, BATCH), []
    for rows in batches:
        pooled.append(read(to_device(collate([texts[row] for row in rows], LEVELS), device))[-1].pooled.vector)
    order = torch.from_numpy(np.concatenate(batches)).to(device)
    return torch.cat(pooled)[order.argsort()]


def spread(users: torch.Tensor, items: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(users, D), (items, D) -> both (users, items, D)"""
    shape = (len(users), len(items), users.size(1))
    return users.unsqueeze(1).expand(shape), items.unsqueeze(0).expand(shape)


def centred(values: NDArray[np.float64]) -> list[float]:
    differences: list[float] = (values - values.mean()).tolist()
    return differences
