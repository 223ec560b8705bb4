"""From examples to a trained model, by the engine that the options ask for."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from regard.config import Config
from regard.data.guess import guess_task
from regard.data.labels import Labels
from regard.errors import InputError
from regard.models.tasks import Task, make_task
from regard.models.trained import Trained
from regard.recording import Recorder, Silent
from regard.records import Example
from regard.training.choices import choose_engine


class Parts(NamedTuple):
    """What is learned from, what early stopping looks at, what the finished model is scored on."""

    train: Iterable[Example]
    dev: Iterable[Example] | None = None
    test: Iterable[Example] | None = None
    names: tuple[str, str, str] = ("the training texts", "the dev texts", "the test texts")  # for errors
    column: str | None = None  # of the labels


class Run(NamedTuple):
    """What surrounds a training run."""

    recorder: Recorder = Silent()
    checkpoint: Path | None = None  # where to keep what a killed run goes on from
    finished: Callable[[str], Trained | None] = lambda identity: None  # the run itself, if it was done before


def fit(config: Config, parts: Parts, run: Run | None = None) -> Trained:
    """Train; a part of the texts is held out where no dev examples are given."""
    run = run or Run()
    if choose_engine(config) == "sparse":
        from regard.training.fit_sparse import fit_sparse

        return fit_sparse(config, parts, run)
    from regard.training.fit_torch import fit_torch

    return fit_torch(config, parts, run)


def find_task(config: Config, labels: Labels, recorder: Recorder, where: str) -> Task:
    kind: str = config.data.task
    if kind == "auto":
        try:
            kind, reason = guess_task(labels.names, len(labels))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        recorder.note(reason)
    return make_task(kind, labels, where)


def fingerprint(config: Config, texts: Iterable[str], device: str) -> str:
    """Tells whether two runs would go the same way: options (but not how long, unless the rate follows it), texts, device.

    `texts` are digests of the texts and labels of each part that is learned from or looked at.
    """
    data = replace(config.data, train=None, dev=None, test=None)
    training = replace(config.training, epochs=config.training.epochs if config.training.decay else 1, device=device)
    told = (Config(data, config.model, training).to_toml(), *texts)
    return sha256("\0".join(told).encode("utf-8", "replace")).hexdigest()


def versions() -> dict[str, str]:
    return {"python": platform.python_version()}
