"""Fitting two towers: the words of the known reviews, what is read for every rating, the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.config import Config
from regard.data.tokenizer import Indexed, Tokenizer
from regard.errors import InputError
from regard.models.tasks import Regression
from regard.recorder import Recorder
from regard.records import Example
from regard.training.choices import Size, choose
from regard.training.device import choose_device
from regard.training.fit_torch import learn_words
from regard_lab.towers.collate_pairs import readings
from regard_lab.towers.meetings import Known, Meeting, Side
from regard_lab.towers.pair_loop import Pairs, answers, train_pairs
from regard_lab.towers.ratings import Rating
from regard_lab.towers.two_towers import TwoTowers, build_towers


@dataclass(frozen=True)
class TrainedTowers:
    """A model with what it may read: the training reviews, and no more than `most` of them a user or item."""

    model: TwoTowers
    task: Regression
    tokenizer: Tokenizer
    known: Known
    reviews: Sequence[Indexed]  # the known ones, in their order
    most: int | None
    side: Side
    config: Config
    metrics: dict[str, Any] = field(default_factory=dict)

    def knowing(self, ratings: Sequence[Rating]) -> TrainedTowers:
        """The same model among other people and things: these reviews are read in place of those it was trained on."""
        return replace(
            self, known=Known(ratings), reviews=self.tokenizer.encode_each([rating.text for rating in ratings])
        )

    def meetings(self, ratings: Sequence[Rating]) -> list[Meeting]:
        return [self.known.meeting(rating, self.most, self.side) for rating in ratings]

    def answers(self, ratings: Sequence[Rating]) -> NDArray[np.float64]:
        """What it says, in the unit of the ratings; it never sees their own texts."""
        return self.said(self.meetings(ratings))

    def said(self, meetings: Sequence[Meeting]) -> NDArray[np.float64]:
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
    config = choose(config.override({"task": "regression", "engine": "torch"}), Size(len(train), 0))
    examples = [Example(rating.text) for rating in train]
    tokenizer, vectors = learn_words(config, examples, recorder)
    reading = Tokenizer(tokenizer.vocabulary, 2, tokenizer.lowercase, tokenizer.max_words)  # a review at a time
    torch.manual_seed(config.training.seed)
    device = choose_device(config.training.device)
    model = build_towers(config.model, len(tokenizer), config.training.dropout, vectors).to(device)
    known, reviews = Known(train), reading.encode_each([rating.text for rating in train])
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
