"""What all engines need before and after training: the parts, the task, the identity of a run, metrics."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from regard.config import BEST_F1, Config
from regard.data.guessed_task import guess_task
from regard.data.label_sets import combined_hint
from regard.data.labels import Labels, written_twice
from regard.data.tokenizer import Tokenizer
from regard.errors import InputError, quoted
from regard.models.tasks import Regression, Task, make_task
from regard.models.trained import Trained
from regard.recorder import Recorder, Silent
from regard.records import Example
from regard.run_metrics import RunMetrics
from regard.training.binary_threshold import FEWEST, described_threshold, with_given_threshold
from regard.training.checkpoint import Progress
from regard.training.continuation import Origin


class Parts(NamedTuple):
    """The examples to train on, those for early stopping, and those that the finished model is scored on."""

    train: Iterable[Example]
    dev: Iterable[Example] | None = None
    test: Iterable[Example] | None = None
    names: tuple[str, str, str] = ("the training texts", "the dev texts", "the test texts")  # for errors
    column: str | None = None  # the name of the label column
    origin: Origin | None = None  # the model that training continues from
    classes: tuple[str, ...] = ()  # labels that may not occur in the training texts


class Run(NamedTuple):
    """Where a training run reports its progress, and where it keeps its checkpoint."""

    recorder: Recorder = Silent()
    checkpoint: Path | None = None


class Prepared(Protocol):
    """Texts that were read, and options with nothing left open; nothing is trained yet."""

    @property
    def config(self) -> Config: ...

    @property
    def identity(self) -> str:
        """The `fingerprint`, which a checkpoint or finished run must share to count as this run."""

    def fit(self, run: Run) -> Trained: ...


def check_not_empty(count: int, where: str) -> None:
    """Refuse an empty part: there would be nothing to train on or to score."""
    if not count:
        raise InputError(f"{where}: expected at least one, got none")


def find_task(config: Config, labels: Labels, recorder: Recorder, where: str, column: str | None = None) -> Task:
    """The task that the options name, or the one that the labels and the name of their column suggest."""
    check_not_empty(len(labels), where)
    kind: str = config.data.task
    if kind == "auto" and labels.sets:
        kind = "multilabel"
        recorder.note(f"task: multilabel, because a text may have several labels ({described_sets(labels)})")
    elif kind == "multilabel":
        recorder.note(f"task: multilabel ({described_sets(labels)})" + combined_in_sets(labels))
    if kind == "auto":
        try:
            kind, reason = guess_task(labels.names, len(labels), column)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        recorder.note(reason)
    if kind != "regression" and (alike := written_twice(labels.single_names)):
        recorder.note(
            f"{where}: labels {quoted(alike)} differ only in case or number format, and count as separate classes"
        )
    if kind in ("regression", "multilabel") and config.training.record != "no":
        got = "numbers" if kind == "regression" else "several labels per text"
        raise InputError(
            f"{where}: record = {config.training.record!r} needs classes, which define token types; got {got}"
        )
    task = make_task(kind, labels, where, config.data.within_range, config.data.positive)
    task = with_given_threshold(task, config.training.threshold, where)
    if kind == "regression" and config.data.task != "auto" and (commas := [x for x in labels.names if "," in x]):
        recorder.note(f"{where}: labels such as {commas[0]!r} are read with a decimal comma")
    if isinstance(task, Regression) and task.has_limits:
        recorder.note(
            f"predictions stay within {task.low:g} and {task.high:g}, the range of the training labels; "
            "--no-within-range removes the limits"
        )
    return task


def described_sets(labels: Labels) -> str:
    """How many labels there are, and how many a text has."""
    sizes = np.array([len(labels.sets.get(name, (name,))) for name in labels.names])[labels.codes]
    without = int((sizes == 0).sum())
    none = f", {without:,} text{'s' * (without != 1)} without any" if without else ""
    return f"{len(labels.single_names):,} labels, {sizes.mean():.2g} per text{none}"


def combined_in_sets(labels: Labels) -> str:
    """A hint if no text has several labels, but labels look combined."""
    if any(len(one) > 1 for one in labels.sets.values()):
        return ""
    return combined_hint(labels.single_names) or "; no text has more than one label"


def fingerprint(config: Config, texts: Iterable[str], device: str) -> str:
    """Equal for two runs that would train the same weights: a hash of the options, the texts and the device.

    The number of epochs is left out unless the learning rate or later phases depend on it, and so is `record`. `texts`
    are digests of the texts and labels of the training part and the dev part.
    """
    # the texts say enough
    data = replace(config.data, train=None, dev=None, test=None, encoding=None, keep_texts=0)
    depends_on_epochs = config.training.decay or config.training.rounds is not None
    epochs = config.training.epochs if depends_on_epochs else 1
    training = replace(config.training, epochs=epochs, device=device, record="no")
    hashed = (Config(data, config.model, training).identity_text(), *texts)
    return sha256("\0".join(hashed).encode("utf-8", "replace")).hexdigest()


def digest(examples: Iterable[Example]) -> str:
    """A checksum of texts, labels and weights in their order."""
    hashed = sha256()
    for example in examples:
        hashed.update(f"\0{example.label}\0{example.text}".encode("utf-8", "replace"))
        if example.weight != 1:
            hashed.update(f"\0{example.weight!r}".encode())
    return hashed.hexdigest()


def note_held_out(count: int, config: Config, recorder: Recorder) -> None:
    if not count:
        share = config.data.dev_fraction
        recorder.note("too few texts to hold any out" if share else "holding out no texts, because dev_fraction = 0")
        return
    training, members = config.training, config.model.attention_models
    purpose = "to score and calibrate" if training.select == "last" and training.calibrate else "for early stopping"
    each = (
        f"each of the {members} models holds out {count} other texts" if members > 1 else f"holding out {count} texts"
    )
    recorder.note(f"{each} {purpose}")


def note_threshold(task: Task, has_dev: bool, threshold: float | str | None, recorder: Recorder) -> None:
    """Say from which probability on a class is predicted, if that is not the more probable one."""
    if (sentence := described_threshold(task)) is not None:  # also one that a continued run keeps
        recorder.note(sentence)
    elif threshold == BEST_F1:
        lacking = (
            f"it needs {FEWEST} dev texts and both classes among them"
            if has_dev
            else "there are no dev texts to choose it on"
        )
        recorder.note(f"threshold = {BEST_F1!r}: {lacking}, so the more probable class is predicted")


def note_truncated(truncated: int, texts: int, max_words: int | None, recorder: Recorder) -> None:
    if truncated:
        recorder.note(f"{truncated} of {texts} texts are longer than max_words = {max_words} words and were truncated")


def common_metrics(task: Task, texts: int, progress: Progress, identity: str) -> RunMetrics:
    """The first entries of metrics.json, which are the same for all engines."""
    metrics: RunMetrics = {
        "task": task.kind,
        "texts": texts,
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch,
    }
    if progress.best_epoch and "round" in (best := progress.history[progress.best_epoch - 1]):
        metrics["best_round"] = best["round"]
    metrics["seconds"] = sum(record["seconds"] for record in progress.history)
    metrics["fingerprint"] = identity
    metrics["history"] = progress.history
    return metrics


def versions() -> dict[str, str]:
    return {"python": platform.python_version()}


def summary(config: Config, tokenizer: Tokenizer, width: int) -> str:
    """The chosen options in one sentence."""
    model, training = config.model, config.training
    counts = (len(tokenizer.vocabulary) - 2, len(tokenizer.beginnings), len(tokenizer.pairs))
    units = [
        f"{count:,} {what}{'' if count == 1 else 's'}"
        for count, what in zip(counts, ("word", "beginning", "pair"), strict=True)
        if count
    ]
    epochs = f"{training.epochs} epoch{'s' * (training.epochs != 1)}"
    seen = "once" if config.data.min_count == 1 else f"{config.data.min_count} times"
    members = model.attention_models
    committee = f"{members} models, each with " if members > 1 else ""
    linear = f"; a linear model over mean vectors of {config.data.vectors}" if model.linear else ""
    linear += "; a linear model over the letters of words" * bool(model.spelling)
    return (
        f"{committee}{model.attention} attention over {', '.join(units)} (seen {seen} or more), "
        f"λ {model.scale:g}, width {width}; {training.optimizer} {training.lr:.2g}, {epochs}, "
        f"batches of {training.batch_size}{linear}"
    )
