"""Fitting with the sparse engine: every file is read once, from its bytes to the numbers of its words; no PyTorch."""

from __future__ import annotations

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from regard.analysis.dynamics import Dynamics
from regard.config import Config
from regard.corpora.lookup import resolve
from regard.data.gathering import Gathering
from regard.data.splitting import held_rows
from regard.data.tokenizer import Tokenizer
from regard.data.vectors import vector_words
from regard.kernels.compiling import is_compiled
from regard.models.flat import fresh
from regard.models.tasks import Classes, Task, encoded
from regard.models.trained import Trained
from regard.recording import Recorder
from regard.training.choices import Size, choose
from regard.training.fit import (
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
from regard.training.numbering import Numbering, Source
from regard.training.sparse import evaluate, threads, train_sparse


def fit_sparse(config: Config, parts: Parts, run: Run) -> Trained:
    recorder = run.recorder
    if not is_compiled():
        recorder.note("compiling the fast engine, once on this machine: some 15 seconds")
    gathering = Gathering(config.data.lowercase, config.data.max_words)
    gathered = [gathering.read(part) for part in (parts.train, parts.dev, parts.test) if part is not None]
    learned = gathered[0]
    task = find_task(config, learned.labels, recorder, parts.names[0])
    if parts.test is not None:
        check_some(len(gathered[-1]), parts.names[2])
    names = [name for name, part in zip(parts.names, parts[:3], strict=True) if part is not None]
    truth = [
        encoded(task, part.labels, name, parts.column if place else None).astype(np.float32)
        for place, (part, name) in enumerate(zip(gathered, names, strict=True))
    ]
    config = choose(config.override({"task": task.kind}), Size(len(learned), len(learned.words), task.out_dim))
    data, training = config.data, config.training
    seen = gathered[: 1 if parts.dev is None else 2]
    identity = fingerprint(config, [part.digest for part in seen], "cpu")
    if done := run.finished(identity):
        return done
    tell_cut(learned.shortened, len(learned), data.max_words, recorder)
    held = np.zeros(len(learned), dtype=bool)
    if parts.dev is None:
        groups = learned.labels.codes if isinstance(task, Classes) else np.zeros(len(learned), dtype=np.int32)
        held = held_rows(groups, data.dev_fraction, training.seed)
        tell_held_out(int(held.sum()), data.dev_fraction, recorder)
    path = None if data.vectors is None else resolve(data.vectors, "vectors")
    numbering = Numbering(gathering, learned, ~held, data, set() if path is None else vector_words(path))
    tokenizer = numbering.tokenizer
    vectors = None if path is None else starting_vectors(data, tokenizer.vocabulary.words, path, recorder)
    width = config.model.embedding if vectors is None else vectors.shape[1]
    recorder.note(told(config, tokenizer, width))
    state = fresh(config.model, len(tokenizer), task.out_dim, training.seed, vectors)
    source = Source(numbering, learned, ~held, truth[0])
    dev = None
    if parts.dev is not None and len(gathered[1]):
        dev = numbering.texts(gathered[1], np.ones(len(gathered[1]), dtype=bool), truth[1])
    elif held.any():
        dev = numbering.texts(learned, held, truth[0])
    scale = config.model.scale or 1.0
    # numpy's own threads would share matrices out, and sum them in an order that follows from their number
    with threadpool_limits(1 if training.deterministic else None, "blas"):
        dynamics = ride_along(config, tokenizer, task, source, recorder)
        progress = train_sparse(state, source, dev, training, scale, task, recorder, run.checkpoint, identity, dynamics)
    metrics = first_metrics(task, source.size, progress, identity)
    metrics["engine"] = f"sparse, {'deterministic' if training.deterministic else 'lock-free'}"
    own = {"numpy": np.__version__, "numba": numba.__version__, "cpu": f"{threads()} threads"}
    metrics["environment"] = {**versions(), **own}
    if dev is not None:
        metrics["dev"] = evaluate(progress.best, scale, task, dev)[0]
    if parts.test is not None:
        test = numbering.texts(gathered[-1], np.ones(len(gathered[-1]), dtype=bool), truth[-1])
        metrics["test"] = evaluate(progress.best, scale, task, test)[0]
    recorded = None if dynamics is None else dynamics.recorded()
    return Trained(config, tokenizer, task, metrics, weights=progress.best, dynamics=recorded)


def ride_along(config: Config, tokenizer: Tokenizer, task: Task, source: Source, recorder: Recorder) -> Dynamics | None:
    """Who looks on, where that is asked for. Of a corpus too large to keep, a block says which types words have."""
    if config.training.record == "no":
        return None
    assert isinstance(task, Classes)  # `find_task` refuses others
    texts = source.whole or next(source.blocks(np.random.default_rng(0)))
    dynamics = Dynamics(config, tokenizer, task, texts)
    recorder.note(dynamics.note)
    if len(texts.labels) < source.size:
        recorder.note(f"recording: types of words are those of {len(texts.labels):,} of the {source.size:,} texts")
    return dynamics


def told(config: Config, tokenizer: Tokenizer, width: int) -> str:
    """What was chosen, in one sentence."""
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
