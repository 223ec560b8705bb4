"""A training run of two towers from files of reviews to its folder, which is written as a whole at the end or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.splitting import held_rows
from regard.errors import InputError
from regard.models.device import choose_device
from regard.recorder import Recorder
from regard.run_lock import RunLock
from regard.run_metrics import Scores
from regard.training.fit_torch import environment
from regard.training.metrics import regression_metrics
from regard_lab.towers.fit_pairs import check_options, fit_pairs
from regard_lab.towers.folder import check_free, save
from regard_lab.towers.ratings import Rating, Side, read_ratings
from regard_lab.towers.trained_towers import TrainedTowers
from regard_lab.towers.two_towers import OURS, Form


class TowerOptions(NamedTuple):
    """What `Config` does not have."""

    max_reviews: int | None = None
    side: Side = "both"
    form: Form = OURS
    overwrite: bool = False


def train_folder(config: Config, options: TowerOptions, folder: Path, recorder: Recorder) -> TrainedTowers:
    """Everything that can be wrong with the options is found before a file is read."""
    most, side, form, overwrite = options
    check_options(config, most, side, form)
    choose_device(config.training.device)
    with RunLock(folder):
        check_free(folder, overwrite)
        train, dev = training_parts(config, recorder)
        test = read_part(config.data.test, "test")
        trained = fit_pairs(config, train, dev, recorder, most, side, form)
        trained.metrics["ratings"] = len(train)
        trained.metrics["environment"] = environment(trained.model.embedding.weight.device)
        if test:
            trained.metrics["test"] = test_scores(trained, train, test)
        save(trained, folder)
    return trained


def training_parts(config: Config, recorder: Recorder) -> tuple[Sequence[Rating], Sequence[Rating]]:
    """Training and dev ratings; without a file of dev ratings a part of the training ratings is held out, and never read."""
    train, dev = read_part(config.data.train, "train"), read_part(config.data.dev, "dev")
    if dev:
        return train, dev
    is_held = held_rows(np.zeros(len(train), dtype=np.int32), config.data.dev_fraction, config.training.seed)
    if not is_held.any():
        raise InputError(
            f"{config.data.train}: expected --dev FILE, or at least 10 ratings and a dev_fraction above 0 to hold some out for "
            f"early stopping, got {len(train)} ratings and dev_fraction = {config.data.dev_fraction}"
        )
    recorder.note(
        f"early stopping on {int(is_held.sum()):,} of {len(train):,} ratings, which are not learned from or read"
    )
    pairs = list(zip(train, is_held.tolist(), strict=True))
    return [rating for rating, held in pairs if not held], [rating for rating, held in pairs if held]


def read_part(name: str | None, split: str) -> list[Rating]:
    """The ratings of a file or of a named corpus; none if it is not given, because a file has at least one."""
    return [] if name is None else read_ratings(resolve(name, split))


def test_scores(trained: TrainedTowers, train: Sequence[Rating], test: Sequence[Rating]) -> Scores:
    mean = float(np.mean([rating.value for rating in train]))
    scores = regression_metrics(trained.answers(test), np.array([rating.value for rating in test]), mean)
    return {name: value for name, value in scores.items() if isinstance(value, float)}
