"""From examples to a trained model, by the engine that the options ask for."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.config import Config, Data
from regard.data.labels import Labels, guess_task, written_twice
from regard.data.vectors import read_vectors
from regard.data.vocabulary import SPECIALS
from regard.errors import InputError, listed
from regard.models.tasks import Task, make_task
from regard.models.trained import Trained
from regard.recording import Recorder, Silent
from regard.records import Example
from regard.training.checkpoint import Progress
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


class Prepared(Protocol):
    """Texts that were read, and options with nothing left open; nothing is trained yet."""

    @property
    def identity(self) -> str:
        """The `fingerprint` that says whether a checkpoint or a finished run is this one."""

    def fit(self, run: Run) -> Trained: ...


def fit(config: Config, parts: Parts, run: Run | None = None) -> Trained:
    """Train; some of the texts are held out if no dev examples are given."""
    run = run or Run()
    return prepare(config, parts, run.recorder).fit(run)


def prepare(config: Config, parts: Parts, recorder: Recorder) -> Prepared:
    """Read all parts, and refuse what cannot be trained or scored."""
    if config.model.is_scale_open:
        from regard.training.scale import choose_scale

        config = choose_scale(config, parts, recorder)
    if choose_engine(config) == "sparse":
        from regard.training.fit_sparse import gather_units

        return gather_units(config, parts, recorder)
    from regard.training.fit_torch import gather

    return gather(config, parts, recorder)


def check_some(count: int, where: str) -> None:
    """From no texts nothing is learned, and on none nothing is scored."""
    if not count:
        raise InputError(f"{where}: none was given; at least one is accepted")


def find_task(config: Config, labels: Labels, recorder: Recorder, where: str) -> Task:
    check_some(len(labels), where)
    kind: str = config.data.task
    if kind == "auto":
        try:
            kind, reason = guess_task(labels.names, len(labels))
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        recorder.note(reason)
    if kind != "regression" and (alike := written_twice(labels.names)):
        recorder.note(
            f"{where}: labels {listed(alike)} differ in capitals or digits only, and count as classes of their own"
        )
    if kind == "regression" and config.training.record != "no":
        raise InputError(f"{where}: record = {config.training.record!r} needs classes; numbers have no token types")
    return make_task(kind, labels, where)


def fingerprint(config: Config, texts: Iterable[str], device: str) -> str:
    """Tells whether two runs would go the same way: options (but not how long, unless the rate or other phases follow it,
    and not what is recorded), texts, device.

    `texts` are digests of the texts and labels of each part that is learned from or looked at.
    """
    data = replace(config.data, train=None, dev=None, test=None)
    lasting = config.training.decay or config.training.rounds is not None  # what comes after hangs on when it ends
    epochs = config.training.epochs if lasting else 1
    training = replace(config.training, epochs=epochs, device=device, record="no")
    told = (Config(data, config.model, training).identity_text(), *texts)
    return sha256("\0".join(told).encode("utf-8", "replace")).hexdigest()


def tell_held_out(count: int, share: float, recorder: Recorder) -> None:
    none = "too few texts to hold any out" if share else "no texts held out, as dev_fraction = 0"
    recorder.note(f"{count} of the texts held out to stop early by" if count else none)


def tell_cut(cut: int, texts: int, most: int | None, recorder: Recorder) -> None:
    if cut:
        recorder.note(f"{cut} of {texts} texts are longer than max_words = {most} words and were cut")


def starting_vectors(data: Data, words: tuple[str, ...], path: Path, recorder: Recorder) -> NDArray[np.float32]:
    """A vector for each of a vocabulary's numbers, NaN where the file has none."""
    table, found = read_vectors(path, words)
    width = table.shape[1]
    recorder.note(f"{int(found.sum())} of {len(found)} words have a vector in {data.vectors} ({width} numbers each)")
    vectors = np.full((SPECIALS + len(words), width), np.nan, dtype=np.float32)
    vectors[SPECIALS:][found] = table[found]
    return vectors


def first_metrics(task: Task, texts: int, progress: Progress, identity: str) -> dict[str, Any]:
    """What metrics.json begins with, whichever engine it was."""
    best = progress.history[progress.best_epoch - 1] if progress.best_epoch else {}
    return {
        "task": task.kind,
        "texts": texts,
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
        **({"best_round": best["round"]} if "round" in best else {}),
        "seconds": sum(record["seconds"] for record in progress.history),
        "fingerprint": identity,
        "history": progress.history,
    }


def versions() -> dict[str, str]:
    return {"python": platform.python_version()}
