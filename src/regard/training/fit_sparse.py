"""Training with the fast engine, without PyTorch: read every file once, number its words, train, measure."""

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
from regard.data.corpus_ids import CorpusIds, CorpusIndexer
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
from regard.training.defaults import DataSize, fill_defaults
from regard.training.loop import train
from regard.training.preparation import (
    Parts,
    Run,
    check_not_empty,
    common_metrics,
    find_task,
    fingerprint,
    initial_vectors,
    note_held_out,
    note_truncated,
    versions,
)
from regard.training.sparse_engine import SparseEngine, UnitData, evaluate, threads
from regard.training.unit_indexing import TextSource, UnitIndexer

SAVED_EVERY = 10.0  # seconds between two checkpoints: repeating a shorter run takes less time than writing one


@dataclass(frozen=True)
class PreparedSparse:
    """The texts that were read and what follows from them, before anything is trained."""

    config: Config  # with nothing left open
    task: Task
    corpus: CorpusIndexer
    parts: dict[str, CorpusIds]  # "train", "dev", "test"
    labels: dict[str, NDArray[np.float32]]  # of the same parts
    identity: str

    def fit(self, run: Run) -> Trained:
        return train_model(self, make_inputs(self, run.recorder), run)


def prepare_sparse(config: Config, parts: Parts, recorder: Recorder) -> PreparedSparse:
    """Read every part once."""
    if not is_compiled():
        recorder.note("compiling the fast engine, once on this machine: about 15 seconds")
    corpus = CorpusIndexer(config.data.lowercase, config.data.max_words)
    examples = {"train": parts.train, "dev": parts.dev, "test": parts.test}
    indexed = {split: corpus.read(part) for split, part in examples.items() if part is not None}
    names = dict(zip(examples, parts.names, strict=True))
    train = indexed["train"]
    task = find_task(config, train.labels, recorder, names["train"])
    if "test" in indexed:
        check_not_empty(len(indexed["test"]), names["test"])
    labels = {
        split: encoded(task, part.labels, names[split], None if split == "train" else parts.column).astype(np.float32)
        for split, part in indexed.items()
    }
    config = fill_defaults(config.override({"task": task.kind}), DataSize(len(train), len(train.words), task.out_dim))
    digests = [part.digest for split, part in indexed.items() if split != "test"]
    return PreparedSparse(config, task, corpus, indexed, labels, fingerprint(config, digests, "cpu"))


class SparseInputs(NamedTuple):
    """The vocabulary, the texts as ids, and the initial weights."""

    indexer: UnitIndexer
    data: UnitData
    state: State

    @property
    def tokenizer(self) -> Tokenizer:
        return self.indexer.tokenizer


def make_inputs(prepared: PreparedSparse, recorder: Recorder) -> SparseInputs:
    """Hold texts out if there is no dev part, turn words into ids, draw the initial weights."""
    config, task, train = prepared.config, prepared.task, prepared.parts["train"]
    data, training = config.data, config.training
    note_truncated(train.shortened, len(train), data.max_words, recorder)
    held = np.zeros(len(train), dtype=bool)
    if "dev" not in prepared.parts:
        groups = train.labels.codes if isinstance(task, Classes) else np.zeros(len(train), dtype=np.int32)
        held = held_rows(groups, data.dev_fraction, training.seed)
        note_held_out(int(held.sum()), data.dev_fraction, recorder)
    path = None if data.vectors is None else resolve(data.vectors, "vectors")
    indexer = UnitIndexer(prepared.corpus, train, ~held, data, set() if path is None else vector_words(path))
    tokenizer = indexer.tokenizer
    vectors = None if path is None else initial_vectors(data, tokenizer.vocabulary.words, path, recorder)
    width = config.model.embedding if vectors is None else vectors.shape[1]
    recorder.note(summary(config, tokenizer, width))
    state = fresh(config.model, len(tokenizer), task.out_dim, training.seed, vectors)
    source = TextSource(indexer, train, ~held, prepared.labels["train"])
    dev = None
    if len(prepared.parts.get("dev", ())):
        dev = all_texts(indexer, prepared, "dev")
    elif held.any():
        dev = indexer.texts(train, held, prepared.labels["train"])
    return SparseInputs(indexer, UnitData(source, dev, task), state)


def all_texts(indexer: UnitIndexer, prepared: PreparedSparse, split: str) -> UnitTexts:
    part = prepared.parts[split]
    return indexer.texts(part, np.ones(len(part), dtype=bool), prepared.labels[split])


def train_model(prepared: PreparedSparse, inputs: SparseInputs, run: Run) -> Trained:
    """Train and measure."""
    config, task, data = prepared.config, prepared.task, inputs.data
    training, scale = config.training, config.model.scale
    checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint, prepared.identity, SAVED_EVERY)
    # with several threads, BLAS sums in an order that depends on their number
    with (
        threadpool_limits(1 if training.deterministic else None, "blas"),
        SparseEngine(inputs.state, data, training, scale) as engine,
    ):
        dynamics = make_dynamics(config, inputs, run.recorder)
        progress = train(engine, run.recorder, checkpoint, dynamics)
    metrics = common_metrics(task, data.source.size, progress, prepared.identity)
    metrics["engine"] = f"sparse, {'deterministic' if training.deterministic else 'lock-free'}"
    libraries = {
        "numpy": np.__version__,
        "numba": numba.__version__,
        "cpu": f"{threads()} thread{'s' * (threads() != 1)}",
    }
    metrics["environment"] = {**versions(), **libraries}
    if data.dev is not None:
        metrics["dev"] = evaluate(progress.best, scale, task, data.dev)[0]
    if "test" in prepared.parts:
        metrics["test"] = evaluate(progress.best, scale, task, all_texts(inputs.indexer, prepared, "test"))[0]
    recorded = None if dynamics is None else dynamics.recorded()
    return Trained(config, inputs.tokenizer, task, metrics, weights=progress.best, dynamics=recorded)


def make_dynamics(config: Config, inputs: SparseInputs, recorder: Recorder) -> Dynamics | None:
    """The recorder of the training dynamics, if asked for. For a corpus too large for memory, one block gives the token types."""
    if config.training.record == "no":
        return None
    source, task = inputs.data.source, inputs.data.task
    assert isinstance(task, Classes)  # `find_task` refuses others
    texts = source.whole or next(source.blocks(np.random.default_rng(0)))
    dynamics = Dynamics(config, inputs.tokenizer, task, texts, inputs.state)
    recorder.note(dynamics.note)
    if len(texts.labels) < source.size:
        recorder.note(f"recording: token types are counted in {len(texts.labels):,} of the {source.size:,} texts")
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
    epochs = f"{training.epochs} epoch{'s' * (training.epochs != 1)}"
    seen = "once" if config.data.min_count == 1 else f"{config.data.min_count} times"
    return (
        f"{model.attention} attention over {', '.join(units)} (seen {seen} or more), "
        f"λ {model.scale:g}, width {width}; {training.optimizer} {training.lr:.2g}, {epochs}, "
        f"batches of {training.batch_size}"
    )
