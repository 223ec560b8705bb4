"""Training with the fast engine, without PyTorch: read every file once, number its words, train, measure."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from regard.analysis.dynamics import Dynamics
from regard.config import Config, Training
from regard.data.corpus_ids import CorpusIds, CorpusIndexer
from regard.data.splitting import disjoint_rows
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import SPECIALS
from regard.kernels.compiling import is_compiled
from regard.models.flat import EMBEDDING, HEAD, QUERY, State, fresh, join_members, state_of
from regard.models.tasks import Classes, Task, encoded
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.run_metrics import RunMetrics
from regard.training.blend import blend, score_on
from regard.training.checkpoint import Checkpoint
from regard.training.committee_engine import (
    CommitteeData,
    CommitteeEngine,
    MemberData,
    calibrate,
    evaluate_committee,
    from_members,
    member_seed,
    tuned_on_dev,
)
from regard.training.defaults import DataSize, fill_defaults
from regard.training.loop import train
from regard.training.preparation import (
    Parts,
    Run,
    check_not_empty,
    common_metrics,
    find_task,
    fingerprint,
    note_held_out,
    note_threshold,
    note_truncated,
    versions,
)
from regard.training.sparse_engine import SparseEngine, UnitData, threads
from regard.training.unit_indexing import TextSource, UnitIndexer
from regard.training.vector_files import VectorFiles
from regard.training.weighting import text_weights
from regard.training.word_vectors import WordVectors, read_word_vectors

SILENCE = 60.0  # how far the score of a unit that a member ignores lies below all others, times λ
SAVED_EVERY = 10.0  # seconds between two checkpoints: repeating a shorter run takes less time than writing one


@dataclass(frozen=True)
class PreparedSparse:
    """The texts that were read and what follows from them, before anything is trained."""

    config: Config  # with nothing left open
    task: Task
    corpus: CorpusIndexer
    parts: dict[str, CorpusIds]  # "train", "dev", "test"
    labels: dict[str, NDArray[np.float32]]  # of the same parts
    weights: NDArray[np.float32] | None  # of the training texts; None if all count the same
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
    task = find_task(config, train.labels, recorder, names["train"], parts.column)
    if "test" in indexed:
        check_not_empty(len(indexed["test"]), names["test"])
    labels = {
        split: encoded(task, part.labels, names[split], None if split == "train" else parts.column).astype(np.float32)
        for split, part in indexed.items()
    }
    weights = text_weights(task, train.labels, train.weights, config.training.class_weight, recorder)
    config = fill_defaults(config.override({"task": task.kind}), DataSize(len(train), len(train.words), task.out_dim))
    digests = [part.digest for split, part in indexed.items() if split != "test"]
    if config.training.class_weight is not None and weights is not None:
        digests.append(sha256(weights.tobytes()).hexdigest())  # a file of weights may change under the same name
    return PreparedSparse(config, task, corpus, indexed, labels, weights, fingerprint(config, digests, "cpu"))


class SparseInputs(NamedTuple):
    """The vocabulary, the texts as ids, and the initial weights of each member."""

    indexer: UnitIndexer
    data: CommitteeData
    states: list[State]
    vectors: WordVectors | None = None  # that a linear member reads

    @property
    def tokenizer(self) -> Tokenizer:
        return self.indexer.tokenizer

    @property
    def size(self) -> int:
        """The number of texts that the members learn from."""
        return int(np.logical_or.reduce([member.source.kept for member in self.data.members]).sum())


def make_inputs(prepared: PreparedSparse, recorder: Recorder) -> SparseInputs:
    """Hold texts out if there is no dev part, turn words into ids, draw the initial weights."""
    config, task, train = prepared.config, prepared.task, prepared.parts["train"]
    data, training, members = config.data, config.training, config.model.attention_models
    note_truncated(train.shortened, len(train), data.max_words, recorder)
    held = held_out(prepared, recorder)
    kept = ~np.logical_and.reduce(held)  # texts that some member learns from
    files, linear = None if data.vectors is None else VectorFiles(data.vectors), config.model.linear
    indexer = UnitIndexer(prepared.corpus, train, kept, data, set() if files is None else {*files.words})
    tokenizer = indexer.tokenizer
    vectors = None if files is None or linear else files.initial(tokenizer.vocabulary.words, recorder)
    width = config.model.embedding if vectors is None else vectors.shape[1]
    recorder.note(summary(config, tokenizer, width))
    seeds = [member_seed(training.seed, member) for member in range(members)]
    states = [fresh(config.model, len(tokenizer), task.out_dim, seed, vectors) for seed in seeds]
    labels = prepared.labels["train"]
    source = TextSource(indexer, train, kept, labels, prepared.weights)
    sources = [source] if members == 1 else [source.without(rows) for rows in held]
    texts = [indexer.texts(train, rows, labels) if rows.any() else None for rows in held]
    dev = all_texts(indexer, prepared, "dev") if len(prepared.parts.get("dev", ())) else None
    read = None
    if files is not None and linear:
        read = read_word_vectors(files, indexer, prepared.corpus, source, recorder)
    return SparseInputs(indexer, CommitteeData([*map(MemberData, sources, texts)], dev, task), states, read)


def held_out(prepared: PreparedSparse, recorder: Recorder) -> list[NDArray[np.bool_]]:
    """Which training texts each member holds out: none if there is a dev part."""
    data, train, members = prepared.config.data, prepared.parts["train"], prepared.config.model.attention_models
    if "dev" in prepared.parts:
        return [np.zeros(len(train), dtype=bool)] * members
    is_classes = isinstance(prepared.task, Classes)
    groups = train.labels.codes if is_classes else np.zeros(len(train), dtype=np.int32)
    held = disjoint_rows(groups, data.dev_fraction, members, prepared.config.training.seed)
    note_held_out(int(held[0].sum()), prepared.config, recorder)
    return held


def all_texts(indexer: UnitIndexer, prepared: PreparedSparse, split: str) -> UnitTexts:
    part = prepared.parts[split]
    return indexer.texts(part, np.ones(len(part), dtype=bool), prepared.labels[split])


def train_model(prepared: PreparedSparse, inputs: SparseInputs, run: Run) -> Trained:
    """Train and measure."""
    config, task, data = prepared.config, prepared.task, inputs.data
    training, scale, members = config.training, config.model.scale, config.model.attention_models
    checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint, prepared.identity, SAVED_EVERY)
    # with several threads, BLAS sums in an order that depends on their number
    with (
        threadpool_limits(1 if training.deterministic else None, "blas"),
        make_engine(inputs, training, scale) as engine,
    ):
        dynamics = make_dynamics(config, inputs, run.recorder)
        progress = train(engine, run.recorder, checkpoint, dynamics)
    best = (
        [progress.best]
        if members == 1 and not config.model.linear
        else known_only(from_members(progress.best, members), data)
    )
    metrics = common_metrics(task, inputs.size, progress, prepared.identity)
    metrics["engine"] = f"sparse, {'deterministic' if training.deterministic else 'lock-free'}"
    libraries = {
        "numpy": np.__version__,
        "numba": numba.__version__,
        "cpu": f"{threads()} thread{'s' * (threads() != 1)}",
    }
    metrics["environment"] = {**versions(), **libraries}
    if inputs.vectors is not None:
        return with_linear_member(prepared, inputs, best, metrics, run.recorder)
    if data.has_dev and training.calibrate:
        metrics["temperature"] = calibrate(best, scale, data)
    if data.has_dev:
        task = tuned_on_dev(best, scale, data, training.threshold)
        data = data._replace(task=task)
        metrics["dev"] = evaluate_committee(best, scale, data)[0]
    if "test" in prepared.parts:
        test = CommitteeData([], all_texts(inputs.indexer, prepared, "test"), task)
        metrics["test"] = evaluate_committee(best, scale, test)[0]
    note_threshold(task, data.has_dev, training.threshold, run.recorder)
    recorded = None if dynamics is None else dynamics.recorded()
    return Trained(config, inputs.tokenizer, task, metrics, weights=join_members(best), dynamics=recorded)


def with_linear_member(
    prepared: PreparedSparse, inputs: SparseInputs, states: list[State], metrics: RunMetrics, recorder: Recorder
) -> Trained:
    """The committee with one more member, and with the words that only the vector files have."""
    config, vectors, data = prepared.config, inputs.vectors, inputs.data
    assert vectors is not None
    scale, training = config.model.scale, config.training
    if data.dev is not None:
        data = data._replace(dev=all_texts(vectors.indexer, prepared, "dev"))
    with threadpool_limits(1 if training.deterministic else None, "blas"):
        result = blend(states, scale, vectors, data, training)
    if result.temperature is not None:
        metrics["temperature"] = result.temperature
    if result.dev is not None:
        metrics["dev"] = result.dev
    if "test" in prepared.parts:
        metrics["test"] = score_on(result.lookup, result.task, all_texts(vectors.indexer, prepared, "test"))
    note_threshold(result.task, data.has_dev, training.threshold, recorder)
    return Trained(config, vectors.indexer.tokenizer, result.task, metrics, weights=state_of(result.lookup, scale))


def known_only(states: list[State], data: CommitteeData) -> list[State]:
    """Make every member ignore the units that it has never seen, because it held their texts out.

    Their vectors would still be the random ones that training started from.
    """
    for state, member in zip(states, data.members, strict=True):
        whole, rows = member.source.whole, member.source.rows
        if whole is None or len(rows) == len(whole.labels):
            continue
        is_kept = np.zeros(len(whole.labels), dtype=bool)
        is_kept[rows] = True
        seen = np.zeros(len(state[EMBEDDING]), dtype=bool)
        seen[whole.ids[np.repeat(is_kept, np.diff(whole.offsets))]] = True
        seen[:SPECIALS] = True
        state[EMBEDDING][~seen] = silent_vector(state, seen)
    return states


def silent_vector(state: State, seen: NDArray[np.bool_]) -> NDArray[np.float32]:
    """A vector whose score is far below all others, and whose polarity is 0; the zero vector if there is none such."""
    query, head = state[QUERY].astype(np.float64), state[HEAD].astype(np.float64)
    free = query - np.linalg.pinv(head) @ (head @ query)  # the part of the query that the head does not read
    length = float(free @ free)
    if length < 1e-6 * float(query @ query):
        return np.zeros_like(state[QUERY])
    lowest = float((state[EMBEDDING][seen] @ state[QUERY]).min())
    return np.asarray((min(lowest, 0.0) - SILENCE) / length * free, dtype=np.float32)


def make_engine(inputs: SparseInputs, training: Training, scale: float) -> SparseEngine | CommitteeEngine:
    data, states = inputs.data, inputs.states
    if len(states) > 1 or inputs.vectors is not None:
        return CommitteeEngine(states, data, training, scale)
    (only,) = data.members
    dev = only.held if data.dev is None else data.dev
    return SparseEngine(states[0], UnitData(only.source, dev, data.task), training, scale)


def make_dynamics(config: Config, inputs: SparseInputs, recorder: Recorder) -> Dynamics | None:
    """The recorder of the training dynamics, if asked for. For a corpus too large for memory, one block gives the token types."""
    if config.training.record == "no":
        return None
    (only,), (state,), task = inputs.data.members, inputs.states, inputs.data.task  # the config refuses committees
    source = only.source
    assert isinstance(task, Classes)  # `find_task` refuses others
    texts = source.some()
    dynamics = Dynamics(config, inputs.tokenizer, task, texts, state)
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
    members = model.attention_models
    committee = f"{members} models, each with " if members > 1 else ""
    linear = f"; a linear model over mean vectors of {config.data.vectors}" if model.linear else ""
    return (
        f"{committee}{model.attention} attention over {', '.join(units)} (seen {seen} or more), "
        f"λ {model.scale:g}, width {width}; {training.optimizer} {training.lr:.2g}, {epochs}, "
        f"batches of {training.batch_size}{linear}"
    )
