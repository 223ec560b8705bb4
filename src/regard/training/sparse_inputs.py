"""From files to what the fast engine trains on: every part read once, the vocabulary, texts as ids, initial weights."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.data.corpus_ids import CorpusIds, CorpusIndexer
from regard.data.splitting import disjoint_rows
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.models.tasks import Task, encoded, strata
from regard.recorder import Recorder
from regard.training.committee_engine import (
    CommitteeData,
    MemberData,
)
from regard.training.continuation import Mixture, continued_task, vector_files, with_task
from regard.training.defaults import DataSize, continued_defaults, fill_defaults
from regard.training.growth import Grown, first_start, grown_states
from regard.training.preparation import (
    Parts,
    check_not_empty,
    find_task,
    fingerprint,
    note_held_out,
    note_truncated,
    summary,
)
from regard.training.unit_indexing import TextSource, UnitIndexer
from regard.training.weighting import text_weights
from regard.training.word_vectors import WordVectors, read_word_vectors


@dataclass(frozen=True)
class SparseTexts:
    """The texts that were read and what follows from them, before anything is trained."""

    config: Config  # with nothing left open
    task: Task
    corpus: CorpusIndexer
    parts: dict[str, CorpusIds]  # "train", "dev", "test"
    labels: dict[str, NDArray[np.float32]]  # of the same parts
    weights: NDArray[np.float32] | None  # of the training texts; None if all count the same
    identity: str
    mixture: Mixture | None = None  # of new and old texts, if training continues


def read_parts(config: Config, parts: Parts, recorder: Recorder) -> SparseTexts:
    """Read every part once."""
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
    return SparseTexts(config, task, corpus, indexed, labels, weights, identity, mixture)


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


def make_inputs(prepared: SparseTexts, recorder: Recorder) -> SparseInputs:
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
    if config.model.spelling and width <= task.out_dim:
        raise InputError(
            f"spelling = true: expected embedding = {task.out_dim + 1} or more for {task.out_dim} outputs, got {width}; "
            "use wider vectors, or spelling = false"
        )
    recorder.note(summary(config, tokenizer, width))
    if origin is None or prepared.mixture is None:
        start = first_start(config.model, len(tokenizer), task.out_dim, training.seed, vectors)
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
    committee = CommitteeData([*map(MemberData, sources, texts)], dev, task)
    return SparseInputs(indexer, committee, start, read)


def held_out(prepared: SparseTexts, recorder: Recorder) -> list[NDArray[np.bool_]]:
    """Which training texts each member holds out: none if there is a dev part."""
    data, train, members = prepared.config.data, prepared.parts["train"], prepared.config.model.attention_models
    if "dev" in prepared.parts:
        return [np.zeros(len(train), dtype=bool)] * members
    groups = strata(prepared.task, train.labels)
    is_new = np.ones(len(train), dtype=bool) if prepared.mixture is None else prepared.mixture.is_new
    held = disjoint_rows(groups, data.dev_fraction, members, prepared.config.training.seed, is_new)
    note_held_out(int(held[0].sum()), prepared.config, recorder)
    return held


def all_texts(indexer: UnitIndexer, prepared: SparseTexts, split: str) -> UnitTexts:
    part = prepared.parts[split]
    return indexer.texts(part, np.ones(len(part), dtype=bool), prepared.labels[split])
