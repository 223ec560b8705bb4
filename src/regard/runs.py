"""A training run from the options to its folder: where it is saved, what it reads, what it writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from regard.config import Config, continued
from regard.corpora.lookup import companion, resolve
from regard.data.labels import Labels
from regard.data.read_options import ColumnPair, ReadOptions
from regard.data.readers import Corpus, Stream, report_reading, report_skipped, stream
from regard.errors import InputError
from regard.files import is_same_file, remove_leftovers, temporary_files
from regard.models.folder import load
from regard.models.hub import is_on_hub, pinned
from regard.models.model import Model
from regard.models.run_files import (
    CHECKPOINT,
    FOLDS,
    KEPT,
    OURS,
    TRACKING,
    has_checkpoint,
    is_interrupted,
    is_run,
)
from regard.models.saving import complete, save
from regard.models.tasks import encoded
from regard.models.trained import Trained
from regard.process_group import ALONE, ProcessGroup
from regard.recorder import Recorder
from regard.run_folders import check_free, folders
from regard.run_lock import RunLock, lock_first
from regard.run_metrics import Metrics
from regard.tracking.addresses import Address
from regard.tracking.tracked import TrackedRun, tracked
from regard.training.checkpoint import Checkpoint, check_identity, read_history
from regard.training.continuation import Origin, check_origin
from regard.training.cross_validation import check_folds, cross_validate
from regard.training.data_files import check_named, data_digests
from regard.training.defaults import provisional_defaults
from regard.training.fit import Parts, Run, prepare
from regard.training.metrics import measure


class Plan(NamedTuple):
    """What else a run does."""

    folds: int | None = None  # first cross-validate on this many parts of the training texts
    origin: Origin | None = None  # continue from this model
    group: ProcessGroup = ALONE  # train together with other processes


ORDINARY = Plan()


def train_run(
    config: Config,
    out: Path | None,
    resume: bool,
    overwrite: bool,
    recorder: Recorder,
    logs: Sequence[Address] = (),
    plan: Plan = ORDINARY,
) -> tuple[Trained, Path]:
    """Read, train, score on test texts if any, save. Resuming a finished run only loads it."""
    train = config.data.train
    if train is None:
        raise InputError("no training texts: pass a file, a folder or a named corpus, or set data.train in the config")
    if resume and overwrite:
        raise InputError("--resume continues a run and --overwrite replaces it; use only one of them")
    check_options(config)
    if plan.folds is not None:
        check_folds(plan.folds, config)
        if plan.group.size > 1:
            raise InputError("--cv: expected one process, got a group; cross-validate without torchrun")
    config = with_named_dev(config, recorder)
    with claimed(folders(train, out, resume, overwrite), resume, overwrite, plan) as folder:
        try:
            return train_into(folder, config, resume, recorder, logs, plan), folder
        except KeyboardInterrupt:
            saved = has_checkpoint(folder)
            if not saved and (folder / FOLDS).is_file():
                raise KeyboardInterrupt("--resume continues after the last finished fold") from None
            advice = "--resume continues after the last saved epoch" if saved else "no epoch was saved to resume from"
            raise KeyboardInterrupt(advice) from None


@contextmanager
def claimed(candidates: Iterator[Path], resume: bool, overwrite: bool, plan: Plan) -> Iterator[Path]:
    """The folder of the run, locked. In a group the first process chooses and locks it for all."""
    group = plan.group
    if not group.is_first:
        yield Path(group.from_first(str))
        return
    try:
        lock = lock_first(candidates)
    except InputError as error:
        raise group.refused(error) from None
    with lock:
        group.from_first(partial(check_claim, lock.folder, resume, overwrite, plan.origin))
        yield lock.folder


def check_claim(folder: Path, resume: bool, overwrite: bool, origin: Origin | None) -> str:
    """The folder, if a run may write to it."""
    check_free(folder, resume, overwrite)
    complete(folder)  # a run that was killed while it was saved
    remove_leftovers((file.path for file in temporary_files(folder) if file.name in OURS), ())
    if resume and origin is not None and origin.is_in(folder):
        raise InputError(f"{folder}: --resume cannot continue a run into the folder of --from; use another --out")
    return str(folder)


def start_from(
    source: str, replay: str | None, given: Mapping[str, object], recorder: Recorder, verify: bool = True
) -> tuple[Config, Origin]:
    """The options of a run that continues another with new texts, and what it continues."""
    source = pinned(source)
    if not is_on_hub(source) and is_interrupted(Path(source)):
        with suppress(InputError), RunLock(Path(source)):
            complete(Path(source))
    trained = load(source, verify=verify)
    check_origin(trained, source)
    check_named(trained, given)
    config = continued(trained.config, given, source)
    origin = Origin(trained, source, columns=(trained.config.data.text, trained.config.data.label))
    if replay is not None:
        texts = read_split(config, replay, "train", recorder, 1, origin.columns)
        return config, origin._replace(replay=texts, replay_name=texts.path)
    if trained.kept is not None:
        return config, origin._replace(replay=trained.kept.examples, replay_name=f"{source}/{KEPT}")
    return config, origin


def train_into(
    folder: Path,
    config: Config,
    resume: bool,
    recorder: Recorder,
    logs: Sequence[Address] = (),
    plan: Plan = ORDINARY,
) -> Trained:
    folds, origin = plan.folds, plan.origin
    # until it is replaced as a whole, the run that is continued stays as it is
    checkpoint = None if origin is not None and origin.is_in(folder) else folder / CHECKPOINT
    streams, parts = read_parts(config, origin, recorder)
    prepared = prepare(config, parts, recorder, plan.group)
    for part in streams.values():
        report_skipped(part, recorder.note)
    has_folds = (folder / FOLDS).is_file()
    if resume and is_run(folder) and not has_checkpoint(folder) and not has_folds:
        return finished(folder, prepared.identity, config, folds, recorder)
    if not plan.group.is_first:
        plan.group.from_first(lambda: None)  # waits until a checkpoint that is not resumed is removed
        return prepared.fit(Run(recorder, checkpoint))
    if not resume:
        remove_folds(folder)
    validated = None if folds is None else cross_validate(config, parts, folds, recorder, folder / FOLDS)
    run = TrackedRun(folder.absolute().name, folder / TRACKING, resume)
    if resume and has_checkpoint(folder):
        run = run._replace(history=read_history(Checkpoint(folder / CHECKPOINT, prepared.identity)))
    elif resume and not has_folds:
        recorder.note(f"{folder} has no checkpoint to resume from; starting from the beginning")
    try:
        with tracked(recorder, logs, run) as tracking:
            if not resume:
                (folder / CHECKPOINT).unlink(missing_ok=True)
            plan.group.from_first(lambda: None)
            trained = prepared.fit(Run(tracking, checkpoint))
            trained.digests = data_digests(trained.config)
            remember_columns(trained, streams["train"], origin is not None)
            if validated is not None:
                trained.metrics["cv"] = validated
            save(trained, folder)
            (folder / CHECKPOINT).unlink(missing_ok=True)
            remove_folds(folder)
            tracking.finish(trained.config, trained.metrics)
    finally:
        if not has_checkpoint(folder):  # otherwise it says which logs --resume continues
            (folder / TRACKING).unlink(missing_ok=True)
    return trained


def read_parts(config: Config, origin: Origin | None, recorder: Recorder) -> tuple[dict[str, Stream], Parts]:
    """The files of a run by their splits, not read yet. Columns are looked for by the names that an origin had."""
    known = (None, None) if origin is None else origin.columns
    assert config.data.train is not None  # checked by train_run
    least = 2 if origin is None else 1
    streams = {"train": read_split(config, config.data.train, "train", recorder, least, known)}
    for split, name in (("dev", config.data.dev), ("test", config.data.test)):
        if name is not None:
            streams[split] = read_split(config, name, split, recorder, 1, known)
            if is_same_file(streams["train"].path, streams[split].path):
                recorder.note(
                    f"the {split} texts are the training texts: their scores say nothing about texts that the model "
                    "has not seen"
                )
    train_name, dev_name, test_name = (
        streams[split].path if split in streams else split for split in ("train", "dev", "test")
    )
    names = (train_name, dev_name, test_name)
    column = streams["train"].label_column
    parts = Parts(streams["train"], streams.get("dev"), streams.get("test"), names, column, origin)
    return streams, parts


def remove_folds(folder: Path) -> None:
    """Remove the scores of finished folds, once they are in metrics.json or if the run begins anew."""
    if (folder / FOLDS).is_file():
        (folder / FOLDS).unlink()


def remember_columns(trained: Trained, texts: Stream, always: bool = False) -> None:
    """Keep columns that were guessed among the options: later commands look for the same ones."""
    if texts.guessed or always:
        trained.config = trained.config.override({"text": texts.text_column, "label": texts.label_column})


def check_options(config: Config) -> None:
    """Reject impossible names and widths before anything is read."""
    chosen = provisional_defaults(config)
    if chosen.training.engine == "sparse":
        return  # the config has already rejected what it cannot train
    from regard.models.build import build
    from regard.models.device import choose_device

    build(chosen.model, words=2, outputs=1)
    choose_device(config.training.device)


def finished(folder: Path, identity: str, config: Config, folds: int | None, recorder: Recorder) -> Trained:
    trained = load(folder)
    check_identity(folder, trained.metrics.get("fingerprint", ""), identity)
    epochs = trained.metrics["epochs"]
    recorder.note(f"{folder} is finished after {epochs} epoch{'s' * (epochs != 1)}; nothing left to do")
    if config.training.record != "no" and trained.dynamics is None:
        recorder.note(f"{folder} was trained without --record; --overwrite trains it again")
    if folds is not None and ("cv" not in trained.metrics or trained.metrics["cv"]["folds"] != folds):
        recorder.note(f"{folder} was trained without --cv {folds}; --overwrite trains it again")
    return trained


def with_named_dev(config: Config, recorder: Recorder) -> Config:
    """Use the dev part of a named corpus, unless dev texts are given."""
    name = str(config.data.train).removesuffix("/train")
    if config.data.dev is not None or "/" in name or companion(name, "dev") is None:
        return config
    recorder.note(f"early stopping on the dev part of {name}; --dev overrides this")
    return config.override({"dev": f"{name}/dev"})  # the name and not the path, so that the run can be moved


def read_split(
    config: Config,
    name: str,
    split: str,
    recorder: Recorder,
    at_least: int = 1,
    known: ColumnPair = (None, None),
) -> Stream:
    data = config.data
    options = ReadOptions(data.text, data.label, skip_bad_rows=data.skip_bad_rows, at_least=at_least, known=known)
    options = replace(
        options,
        encoding=data.encoding,
        weight=data.weight if split == "train" else None,
        several=data.task == "multilabel",
        label_separator=data.label_separator,
    )
    texts = stream(resolve(name, split), options)
    report_reading(texts, recorder.note)
    return texts


def score(trained: Model, corpus: Corpus) -> Metrics:
    labels = encoded(trained.task, Labels.of(corpus.examples), corpus.path, corpus.label_column)
    return measure(trained.task, trained.answers([example.text for example in corpus.examples]), labels)
