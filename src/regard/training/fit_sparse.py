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
from regard.kernels.compiling import is_compiled
from regard.kernels.sparse_steps import update_rows
from regard.models.flat import State, join_members, state_of
from regard.models.tasks import Classes, Task, encoded, strata
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.run_metrics import RunMetrics
from regard.training.before_after import Comparison, note_scores
from regard.training.blend import blend, score_on
from regard.training.checkpoint import Checkpoint
from regard.training.committee_engine import (
    CommitteeData,
    CommitteeEngine,
    MemberData,
    calibrate,
    evaluate_committee,
    tuned_on_dev,
)
from regard.training.continuation import Mixture, continued_task, vector_files, with_task
from regard.training.defaults import DataSize, continued_defaults, fill_defaults
from regard.training.growth import Grown, first_start, grown_states, kept_squares
from regard.training.letters import Letters, letters_of_members
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
    summary,
    versions,
)
from regard.training.sparse_engine import SparseEngine, UnitData, threads
from regard.training.unit_indexing import TextSource, UnitIndexer
from regard.training.weighting import text_weights
from regard.training.word_vectors import WordVectors, read_word_vectors

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
    mixture: Mixture | None = None  # of new and old texts, if training continues

    def fit(self, run: Run) -> Trained:
        return train_model(self, make_inputs(self, run.recorder), run)


def prepare_sparse(config: Config, parts: Parts, recorder: Recorder) -> PreparedSparse:
    """Read every part once."""
    if not is_compiled(update_rows):
        recorder.note("compiling the fast engine, once on this machine: about 15 seconds")
    corpus, origin = CorpusIndexer(config.data.lowercase, config.data.max_words), parts.origin
    mixture = None if origin is None else Mixture(parts.train, origin, config.training.seed)
    examples = {"train": mixture or parts.train, "dev": parts.dev, "test": parts.test}
    indexed = {split: corpus.read(part) for split, part in examples.items() if part is not None}
    names = dict(zip(examples, parts.names, strict=True))
    train = indexed["train"]
    train.labels.declare(parts.classes)
    if origin is None or mixture is None:
        task = find_task(config, train.labels, recorder, names["train"], parts.column)
    else:
        check_not_empty(mixture.new, names["train"])
        task = continued_task(origin.trained.task, train.labels, config, names["train"], recorder)
    if "test" in indexed:
        check_not_empty(len(indexed["test"]), names["test"])
    labels = {
        split: encoded(task, part.labels, names[split], None if split == "train" else parts.column).astype(np.float32)
        for split, part in indexed.items()
    }
    weights = text_weights(task, train.labels, train.weights, config.training.class_weight, recorder)
    size = DataSize(len(train), len(train.words), task.out_dim)
    config = with_task(config, task, recorder)
    if origin is not None and mixture is not None:
        config = continued_defaults(config, size, mixture.new / max(origin.texts, 1))
    config = fill_defaults(config, size)
    digests = [part.digest for split, part in indexed.items() if split != "test"]
    digests += [] if origin is None else [origin.digest]
    if config.training.class_weight is not None and weights is not None:
        digests.append(sha256(weights.tobytes()).hexdigest())  # a file of weights may change under the same name
    identity = fingerprint(config, digests, "cpu")
    return PreparedSparse(config, task, corpus, indexed, labels, weights, identity, mixture)


class SparseInputs(NamedTuple):
    """The vocabulary, the texts as ids, and what training starts from."""

    indexer: UnitIndexer
    data: CommitteeData
    start: Grown
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
    origin = None
    if prepared.mixture is not None:
        kept, origin = kept & ~prepared.mixture.is_scored, prepared.mixture.origin
    files, linear = vector_files(data, prepared.mixture, recorder), config.model.linear
    known = None if origin is None else origin.trained.tokenizer
    assert known is None or isinstance(known, Tokenizer)  # of a flat model
    indexer = UnitIndexer(prepared.corpus, train, kept, data, set() if files is None else {*files.words}, known)
    tokenizer = indexer.tokenizer
    vectors = None if files is None or linear else files.initial(tokenizer.vocabulary.words, recorder)
    width = config.model.embedding if vectors is None else vectors.shape[1]
    recorder.note(summary(config, tokenizer, width))
    letters: list[Letters | None] = [None] * members
    if origin is None or prepared.mixture is None:
        letters = letters_of_members(config.model, tokenizer, task.out_dim, len(train.words))
        sizes = [len(tokenizer) if one is None else one.size for one in letters]
        start = first_start(config.model, sizes, task.out_dim, training.seed, vectors)
    else:
        recorder.note(prepared.mixture.summary(len(tokenizer)))
        start = grown_states(origin.trained, tokenizer, task, training.seed, vectors)
    labels = prepared.labels["train"]
    source = TextSource(indexer, train, kept, labels, prepared.weights)
    sources = [source] if members == 1 else [source.without(rows) for rows in held]
    texts = [indexer.texts(train, rows, labels) if rows.any() else None for rows in held]
    dev = all_texts(indexer, prepared, "dev") if len(prepared.parts.get("dev", ())) else None
    read = None
    if files is not None and linear:
        read = read_word_vectors(files, indexer, prepared.corpus, source, recorder)
    committee = CommitteeData([*map(MemberData, sources, texts, letters)], dev, task, has_few_units=origin is not None)
    return SparseInputs(indexer, committee, start, read)


def held_out(prepared: PreparedSparse, recorder: Recorder) -> list[NDArray[np.bool_]]:
    """Which training texts each member holds out: none if there is a dev part."""
    data, train, members = prepared.config.data, prepared.parts["train"], prepared.config.model.attention_models
    if "dev" in prepared.parts:
        return [np.zeros(len(train), dtype=bool)] * members
    groups = strata(prepared.task, train.labels)
    is_new = np.ones(len(train), dtype=bool) if prepared.mixture is None else prepared.mixture.is_new
    held = disjoint_rows(groups, data.dev_fraction, members, prepared.config.training.seed, is_new)
    note_held_out(int(held[0].sum()), prepared.config, recorder)
    return held


def all_texts(indexer: UnitIndexer, prepared: PreparedSparse, split: str) -> UnitTexts:
    part = prepared.parts[split]
    return indexer.texts(part, np.ones(len(part), dtype=bool), prepared.labels[split])


def train_model(prepared: PreparedSparse, inputs: SparseInputs, run: Run) -> Trained:
    """Train and measure."""
    config, task, data, mixture = prepared.config, prepared.task, inputs.data, prepared.mixture
    training, scale = config.training, config.model.scale
    checkpoint = None if run.checkpoint is None else Checkpoint(run.checkpoint, prepared.identity, SAVED_EVERY)
    comparison = None if mixture is None else compare(prepared, inputs, mixture)
    # with several threads, BLAS sums in an order that depends on their number
    with (
        threadpool_limits(1 if training.deterministic else None, "blas"),
        make_engine(inputs, training, scale) as engine,
    ):
        dynamics = make_dynamics(config, inputs, run.recorder)
        progress = train(engine, run.recorder, checkpoint, dynamics)
        if isinstance(engine, SparseEngine):
            best, squares = [progress.best], [engine.squares]
        else:
            best, squares, data = engine.finished(progress.best, inputs.start.learned)
    metrics = common_metrics(task, inputs.size, progress, prepared.identity)
    metrics["engine"] = f"sparse, {'deterministic' if training.deterministic else 'lock-free'}"
    libraries = {
        "numpy": np.__version__,
        "numba": numba.__version__,
        "cpu": f"{threads()} thread{'s' * (threads() != 1)}",
    }
    metrics["environment"] = {**versions(), **libraries}
    if inputs.vectors is not None:
        return with_linear_member(prepared, inputs._replace(data=data), best, metrics, run.recorder)
    if mixture is not None and comparison is not None:
        metrics["continued"] = mixture.continued(task, len(inputs.tokenizer), comparison.after(best))
        note_scores(metrics["continued"], mixture.missing(prepared.parts["train"].labels), run.recorder)
    if data.has_dev and training.calibrate:
        metrics["temperature"] = calibrate(best, scale, data, 1.0 if mixture is None else mixture.origin.temperature)
    if data.has_dev:
        task = tuned_on_dev(best, scale, data, training.threshold)
        data = data._replace(task=task)
        metrics["dev"] = evaluate_committee(best, scale, data)[0]
    if "test" in prepared.parts:
        test = CommitteeData([], all_texts(inputs.indexer, prepared, "test"), task)
        metrics["test"] = evaluate_committee(best, scale, test)[0]
    note_threshold(task, data.has_dev, training.threshold, run.recorder)
    recorded = None if dynamics is None else dynamics.recorded()
    return Trained(
        config,
        inputs.tokenizer,
        task,
        metrics,
        weights=join_members(best),
        dynamics=recorded,
        accumulators=kept_squares(squares),
    )


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


def compare(prepared: PreparedSparse, inputs: SparseInputs, mixture: Mixture) -> Comparison:
    """The scores before training continues: on dev or held-out new texts, and on old texts that are set aside."""
    data = inputs.data
    groups = {"new" if data.dev is None else "dev": data}
    if mixture.scored:
        old = inputs.indexer.texts(prepared.parts["train"], mixture.is_scored, prepared.labels["train"])
        groups["old"] = data._replace(dev=old)
    return Comparison(inputs.start, prepared.config.model.scale, mixture.origin.trained.task, groups)


def make_engine(inputs: SparseInputs, training: Training, scale: float) -> SparseEngine | CommitteeEngine:
    data, (states, squares, _) = inputs.data, inputs.start
    if len(states) > 1 or inputs.vectors is not None:
        return CommitteeEngine(states, data, training, scale, squares)
    (only,) = data.members
    dev = only.held if data.dev is None else data.dev
    return SparseEngine(states[0], UnitData(only.source, dev, data.task), training, scale, *squares)


def make_dynamics(config: Config, inputs: SparseInputs, recorder: Recorder) -> Dynamics | None:
    """The recorder of the training dynamics, if asked for. For a corpus too large for memory, one block gives the token types."""
    if config.training.record == "no":
        return None
    (only,), (state,), task = (
        inputs.data.members,
        inputs.start.states,
        inputs.data.task,
    )  # the config refuses committees
    source = only.source
    assert isinstance(task, Classes)  # `find_task` refuses others
    texts = source.some()
    dynamics = Dynamics(config, inputs.tokenizer, task, texts, state)
    recorder.note(dynamics.note)
    if len(texts.labels) < source.size:
        recorder.note(f"recording: token types are counted in {len(texts.labels):,} of the {source.size:,} texts")
    return dynamics
