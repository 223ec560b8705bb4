"""Training with the fast engine: every file is read once, from its bytes to the ids of its words, without PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from regard.analysis.dynamics import Dynamics
from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.gathering import Gathered, Gathering
from regard.data.splitting import held_rows
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vectors import vector_words
from regard.kernels.compiling import is_compiled
from regard.models.flat import State, fresh
from regard.models.tasks import Classes, Task, encoded
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.training.checkpoint import Checkpoint
from regard.training.choices import Size, choose
from regard.training.loop import train
from regard.training.numbering import Numbering, Source
from regard.training.preparation import (
    Parts,
    Run,
    check_some,
    find_task,
    fingerprint,
    first_metrics,
    starting_vectors,
    tell_cut,
    tell_held_out,
    versions,
)
from regard.training.sparse_engine import SparseEngine, UnitData, evaluate, threads

SAVED_EVERY = 10.0  # seconds between two checkpoints: a shorter run is repeated sooner than it is written


@dataclass(frozen=True)
class UnitMaterial:
    """The texts that were read and what follows from them, before anything is trained."""

    config: Config  # with nothing left open
    task: Task
    gathering: Gathering
    parts: dict[str, Gathered]  # "train", "dev", "test"
    labels: dict[str, NDArray[np.float32]]  # of the same parts
    identity: str

    def fit(self, run: Run) -> Trained:
        return teach(self, index(self, run.recorder), run)


def gather(config: Config, parts: Parts, recorder: Recorder) -> UnitMaterial:
    """Read every part once."""
    if not is_compiled():
        recorder.note("compiling the fast engine, once on this machine: some 15 seconds")
    gathering = Gathering(config.data.lowercase, config.data.max_words)
    given = {"train": parts.train, "dev": parts.dev, "test": parts.test}
    gathered = {split: gathering.read(part) for split, part in given.items() if part is not None}
    names = dict(zip(given, parts.names, strict=True))
    train = gathered["train"]
    task = find_task(config, train.labels, recorder, names["train"])
    if "test" in gathered:
        check_some(len(gathered["test"]), names["test"])
    labels = {
        split: encoded(task, part.labels, names[split], None if split == "train" else parts.column).astype(np.float32)
        for split, part in gathered.items()
    }
    config = choose(config.override({"task": task.kind}), Size(len(train), len(train.words), task.out_dim))
    digests = [part.digest for split, part in gathered.items() if split != "test"]
    return UnitMaterial(config, task, gathering, gathered, labels, fingerprint(config, digests, "cpu"))


class UnitLearned(NamedTuple):
    """The vocabulary, the texts as ids, and the weights to start from."""

    numbering: Numbering
    data: UnitData
    state: State

    @property
    def tokenizer(self) -> Tokenizer:
        return self.numbering.tokenizer


def index(given: UnitMaterial, recorder: Recorder) -> UnitLearned:
    """Hold texts out if there is no dev part, number the words, draw the first weights."""
    config, task, train = given.config, given.task, given.parts["train"]
    data, training = config.data, config.training
    tell_cut(train.shortened, len(train), data.max_words, recorder)
    held = np.zeros(len(train), dtype=bool)
    if "dev" not in given.parts:
        groups = train.labels.codes if isinstance(task, Classes) else np.zeros(len(train), dtype=np.int32)
        held = held_rows(groups, data.dev_fraction, training.seed)
        tell_held_out(int(held.sum()), data.dev_fraction, recorder)
    path = None if data.vectors is None else resolve(data.vectors, "vectors")
    numbering = Numbering(given.gathering, train, ~held, data, set() if path is None else vector_words(path))
    tokenizer = numbering.tokenizer
    vectors = None if path is None else starting_vectors(data, tokenizer.vocabulary.words, path, recorder)
    width = config.model.embedding if vectors is None else vectors.shape[1]
    recorder.note(summary(config, tokenizer, width))
    state = fresh(config.model, len(tokenizer), task.out_dim, training.seed, vectors)
    source = Source(numbering, train, ~held, given.labels["train"])
    dev = None
    if len(given.parts.get("dev", ())):
        dev = whole(numbering, given, "dev")
    elif held.any():
        dev = numbering.texts(train, held, given.labels["train"])
    return UnitLearned(numbering, UnitData(source, dev, task), state)


def whole(numbering: Numbering, given: UnitMaterial, split: str) -> UnitTexts:
    part = given.parts[split]
    return numbering.texts(part, np.ones(len(part), dtype=bool), given.labels[split])


def teach(given: UnitMaterial, learned: UnitLearned, run: Run) -> Trained:
    """Train and measure."""
    config, task, data = given.config, given.task, learned.data
    training, scale = config.training, config.model.scale
    checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint, given.identity, SAVED_EVERY)
    # with threads of its own, BLAS would sum in an order that depends on their number
    with (
        threadpool_limits(1 if training.deterministic else None, "blas"),
        SparseEngine(learned.state, data, training, scale) as engine,
    ):
        dynamics = watch(config, learned, run.recorder)
        progress = train(engine, run.recorder, checkpoint, dynamics)
    metrics = first_metrics(task, data.source.size, progress, given.identity)
    metrics["engine"] = f"sparse, {'deterministic' if training.deterministic else 'lock-free'}"
    libraries = {"numpy": np.__version__, "numba": numba.__version__, "cpu": f"{threads()} threads"}
    metrics["environment"] = {**versions(), **libraries}
    if data.dev is not None:
        metrics["dev"] = evaluate(progress.best, scale, task, data.dev)[0]
    if "test" in given.parts:
        metrics["test"] = evaluate(progress.best, scale, task, whole(learned.numbering, given, "test"))[0]
    recorded = None if dynamics is None else dynamics.recorded()
    return Trained(config, learned.tokenizer, task, metrics, weights=progress.best, dynamics=recorded)


def watch(config: Config, learned: UnitLearned, recorder: Recorder) -> Dynamics | None:
    """The recorder of the training dynamics, if asked for. Token types of a corpus too large to keep come from one block."""
    if config.training.record == "no":
        return None
    source, task = learned.data.source, learned.data.task
    assert isinstance(task, Classes)  # `find_task` refuses others
    texts = source.whole or next(source.blocks(np.random.default_rng(0)))
    dynamics = Dynamics(config, learned.tokenizer, task, texts, learned.state)
    recorder.note(dynamics.note)
    if len(texts.labels) < source.size:
        recorder.note(f"recording: types of words are those of {len(texts.labels):,} of the {source.size:,} texts")
    return dynamics


def summary(config: Config, tokenizer: Tokenizer, width: int) -> str:
    """The chosen options in one sentence."""
    model, training = config.model, config.training
    counts = (len(tokenizer.vocabulary) - 2, len(tokenizer.beginnings), len(tokenizer.pairs))
    units = [
        f"{count:,} {what}{'' if count == 1 else 's'}"
        for count, what in zip(counts, ("word", "beginning", "pair"), strict=True)
        if count
    ]
    seen = "once" if config.data.min_count == 1 else f"{config.data.min_count} times"
    return (
        f"{model.attention} attention over {', '.join(units)} (seen {seen} or more), "
        f"λ {model.scale:g}, width {width}; {training.optimizer} {training.lr:.2g}, {training.epochs} epochs, "
        f"batches of {training.batch_size}"
    )
