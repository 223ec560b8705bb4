"""A training run from the options to the folder: where it goes, what it reads, what it leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.data.datasets import companion, resolve
from regard.data.readers import Corpus, read
from regard.errors import InputError
from regard.files import check_place
from regard.models.build import build
from regard.models.folder import CHECKPOINT, check_own, is_begun, is_run, load, save
from regard.models.tasks import Task
from regard.models.trained import Trained
from regard.recording import Recorder
from regard.training.checkpoint import check_identity
from regard.training.device import choose_device
from regard.training.fit import find_task, fingerprint, fit
from regard.training.metrics import measure

FOLDER = Path("runs")


def train_run(
    config: Config, out: Path | None, resume: bool, overwrite: bool, recorder: Recorder
) -> tuple[Trained, Path]:
    """Read, train, score on test where asked, save. A finished run that is resumed is only loaded."""
    train = config.data.train
    if train is None:
        raise InputError("nothing to learn from: give a file, a folder or a named corpus, or data.train in the config")
    if resume and overwrite:
        raise InputError("--resume goes on with a run and --overwrite replaces it; give one of them")
    build(config.model, words=2, outputs=1)  # names and widths that cannot be, refused before anything is read
    choose_device(config.training.device)
    config = with_named_dev(config, recorder)
    folder = find_folder(train, out, resume, overwrite)
    check_place(folder)
    learned = read_split(config, train, "train", recorder, at_least=2)
    dev = None if config.data.dev is None else read_split(config, config.data.dev, "dev", recorder)
    test = None if config.data.test is None else read_split(config, config.data.test, "test", recorder)
    task = find_task(config, learned.examples, recorder, learned.path)
    for corpus in filter(None, (dev, test)):
        encoded(task, corpus)  # a label that cannot be scored is told now, not after hours of training
    config = config.override({"task": task.kind})
    held = None if dev is None else dev.examples
    if not resume:
        (folder / CHECKPOINT).unlink(missing_ok=True)
    elif is_begun(folder):
        pass  # `fit` goes on from there
    elif is_run(folder):
        return finished(folder, fingerprint(config, learned.examples, held), recorder), folder
    else:
        recorder.note(f"{folder} has no checkpoint to go on from; starting at the beginning")
    trained = fit(config, learned.examples, held, recorder, folder / CHECKPOINT, where=learned.path)
    if test is not None:
        trained.metrics["test"] = score(trained, test)
    save(trained, folder)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return trained, folder


def finished(folder: Path, identity: str, recorder: Recorder) -> Trained:
    trained = load(folder)
    check_identity(folder, trained.metrics.get("fingerprint", ""), identity)
    recorder.note(f"{folder} is finished after {trained.metrics['epochs']} epochs; nothing is left to do")
    return trained


def with_named_dev(config: Config, recorder: Recorder) -> Config:
    """A named corpus brings its own dev part."""
    name = str(config.data.train).removesuffix("/train")
    if config.data.dev is not None or "/" in name or companion(name, "dev") is None:
        return config
    recorder.note(f"early stopping by the dev part of {name}; --dev overrides")
    return config.override({"dev": f"{name}/dev"})  # the name and not the path, so that the run can be moved


def read_split(config: Config, name: str, split: str, recorder: Recorder, at_least: int = 1) -> Corpus:
    data = config.data
    corpus = read(
        resolve(name, split), text=data.text, label=data.label, skip_bad_rows=data.skip_bad_rows, at_least=at_least
    )
    tell(corpus, recorder)
    return corpus


def tell(corpus: Corpus, recorder: Recorder) -> None:
    for sentence in corpus.guessed:
        recorder.note(sentence)
    if corpus.skipped:
        recorder.note(f"{corpus.path}: {corpus.skipped} rows could not be used and were left out")


def score(trained: Trained, corpus: Corpus) -> dict[str, Any]:
    labels = encoded(trained.task, corpus)
    return measure(trained.task, trained.answers([example.text for example in corpus.examples]), labels)


def encoded(task: Task, corpus: Corpus) -> NDArray[np.float64]:
    column = "" if corpus.label_column is None else f", column {corpus.label_column!r}"
    return np.array(
        [task.encode(example.label, f"{corpus.path}, row {example.row}{column}") for example in corpus.examples]
    )


def find_folder(train: str, out: Path | None, resume: bool, overwrite: bool) -> Path:
    """Where the run goes: the folder given, or runs/NAME, or the next of that name that is free."""
    folder = out or default_folder(train, resume, overwrite)
    if not resume and not overwrite and folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} exists already; give another --out, --resume to go on with it, or --overwrite")
    check_own(folder)
    return folder


def default_folder(train: str, resume: bool, overwrite: bool) -> Path:
    stem = Path(train).name.split(".")[0] or "run"
    if stem in ("train", "data") and Path(train).parent.name:
        stem = Path(train).parent.name
    names = [FOLDER / stem, *(FOLDER / f"{stem}-{number}" for number in range(2, 10_000))]
    if resume:
        begun = [folder for folder in names if is_begun(folder)] or [folder for folder in names if is_run(folder)]
        return begun[-1] if begun else names[0]
    return names[0] if overwrite else next(folder for folder in names if not folder.exists())
