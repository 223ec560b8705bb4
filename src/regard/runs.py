"""A training run from the options to the folder: where it goes, what it reads, what it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from regard.config import Config
from regard.data.datasets import companion, resolve
from regard.data.readers import Corpus, read
from regard.errors import InputError
from regard.models.folder import CHECKPOINT, is_run, load, save
from regard.models.trained import Trained
from regard.recording import Recorder
from regard.records import Example
from regard.training.fit import fit
from regard.training.metrics import measure

FOLDER = Path("runs")


def train_run(
    config: Config, out: Path | None, resume: bool, overwrite: bool, recorder: Recorder
) -> tuple[Trained, Path]:
    """Read, train, score on test where asked, save. A finished run that is resumed is only loaded."""
    train = config.data.train
    if train is None:
        raise InputError("nothing to learn from: give a file, a folder or a named corpus, or data.train in the config")
    config = with_named_dev(config, recorder)
    folder = find_folder(train, out, resume, overwrite)
    if resume and is_run(folder):
        recorder.note(f"{folder} is finished; nothing is left to do")
        return load(folder), folder
    examples = read_split(config, train, "train", recorder, at_least=2)
    dev = None if config.data.dev is None else read_split(config, config.data.dev, "dev", recorder)
    test = None if config.data.test is None else read_split(config, config.data.test, "test", recorder)
    if not resume:
        (folder / CHECKPOINT).unlink(missing_ok=True)
    trained = fit(config, examples, dev, recorder, folder / CHECKPOINT, where=train)
    if test is not None:
        trained.metrics["test"] = score(trained, test, str(config.data.test))
    save(trained, folder)
    (folder / CHECKPOINT).unlink(missing_ok=True)
    return trained, folder


def with_named_dev(config: Config, recorder: Recorder) -> Config:
    """A named corpus brings its own dev part."""
    found = companion(str(config.data.train), "dev") if config.data.dev is None else None
    if found is None:
        return config
    recorder.note(f"early stopping by {found.name} of the same corpus; --dev overrides")
    return replace(config, data=replace(config.data, dev=str(found)))


def read_split(config: Config, name: str, split: str, recorder: Recorder, at_least: int = 1) -> list[Example]:
    data = config.data
    corpus = read(
        resolve(name, split), text=data.text, label=data.label, skip_bad_rows=data.skip_bad_rows, at_least=at_least
    )
    tell(corpus, recorder)
    return corpus.examples


def tell(corpus: Corpus, recorder: Recorder) -> None:
    for sentence in corpus.guessed:
        recorder.note(sentence)
    if corpus.skipped:
        recorder.note(f"{corpus.path}: {corpus.skipped} rows could not be used and were left out")


def score(trained: Trained, examples: Sequence[Example], where: str) -> dict[str, Any]:
    labels = [trained.task.encode(example.label, f"{where}, row {example.row}") for example in examples]
    answers = trained.answers([example.text for example in examples])
    return measure(trained.task, answers, np.array(labels, dtype=np.float64))


def find_folder(train: str, out: Path | None, resume: bool, overwrite: bool) -> Path:
    """Where the run goes: the folder given, or runs/NAME, or the next of that name that is free."""
    if out is not None:
        if not resume and not overwrite and out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise InputError(f"{out} exists already; give another --out, --resume to go on with it, or --overwrite")
        if overwrite and out.exists() and not (is_run(out) or (out / CHECKPOINT).exists() or not any(out.iterdir())):
            raise InputError(f"{out} is not a run of regard, so --overwrite leaves it alone; give another --out")
        return out
    stem = Path(train).name.split(".")[0] or "run"
    if stem in ("train", "data") and Path(train).parent.name:
        stem = Path(train).parent.name
    names = [FOLDER / stem, *(FOLDER / f"{stem}-{number}" for number in range(2, 10_000))]
    if resume:
        begun = [folder for folder in names if (folder / CHECKPOINT).exists() or is_run(folder)]
        return begun[-1] if begun else names[0]
    return names[0] if overwrite else next(folder for folder in names if not folder.exists())
