"""Training with the fast engine, without PyTorch: train on what was read, add a linear member, measure."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from threadpoolctl import threadpool_limits

from regard.analysis.dynamics import Dynamics
from regard.config import Config, Training
from regard.kernels import ahead
from regard.kernels.compiling import is_compiled
from regard.kernels.sparse_steps import train_batches
from regard.models.flat import State, join_members, state_of
from regard.models.tasks import Classes
from regard.models.trained import Trained
from regard.recorder import Recorder
from regard.run_metrics import RunMetrics
from regard.training.before_after import Comparison, note_scores
from regard.training.blend import Mix, blend, score_on, with_spelling
from regard.training.checkpoint import Checkpoint
from regard.training.committee_engine import (
    CommitteeData,
    CommitteeEngine,
    evaluate_committee,
    finish_on_dev,
)
from regard.training.continuation import Mixture
from regard.training.growth import default_squares, kept_squares
from regard.training.loop import train
from regard.training.preparation import (
    Parts,
    Run,
    common_metrics,
    note_threshold,
    versions,
)
from regard.training.sparse_engine import SparseEngine, UnitData, threads
from regard.training.sparse_inputs import SparseInputs, SparseTexts, all_texts, make_inputs, read_parts
from regard.training.spelling import find_spelling

SAVED_EVERY = 10.0  # seconds between two checkpoints: repeating a shorter run takes less time than writing one


@dataclass(frozen=True)
class PreparedSparse:
    """Texts that were read, before anything is trained."""

    texts: SparseTexts
    helper: ahead.Helper | None = None  # compiles what the first training on a machine needs

    @property
    def config(self) -> Config:
        return self.texts.config

    @property
    def identity(self) -> str:
        return self.texts.identity

    def fit(self, run: Run) -> Trained:
        try:
            return train_model(self.texts, make_inputs(self.texts, run.recorder), run)
        finally:
            if self.helper is not None:
                self.helper.close()


def prepare_sparse(config: Config, parts: Parts, recorder: Recorder) -> PreparedSparse:
    """Read every part once."""
    if not is_compiled(train_batches):
        recorder.note("compiling the fast engine, once on this machine: about 10 seconds")
    helper = ahead.start("train", recorder.note)
    try:
        return PreparedSparse(read_parts(config, parts, recorder), helper)
    except BaseException:
        if helper is not None:
            helper.close()
        raise


def train_model(prepared: SparseTexts, inputs: SparseInputs, run: Run) -> Trained:
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
            best, squares = engine.finished(progress.best, inputs.start.learned), engine.squares
    metrics = common_metrics(task, inputs.size, progress, prepared.identity)
    metrics["engine"] = f"sparse, {'deterministic' if training.deterministic else 'lock-free'}"
    metrics["environment"] = {**versions(), **libraries()}
    if inputs.vectors is not None:
        return with_linear_member(prepared, inputs, best, metrics, run.recorder)
    if config.model.spelling:
        return with_spelling_member(prepared, inputs, best, squares, metrics, run.recorder)
    if mixture is not None and comparison is not None:
        metrics["continued"] = mixture.continued(task, len(inputs.tokenizer), comparison.after(best))
        note_scores(metrics["continued"], mixture.missing(prepared.parts["train"].labels), run.recorder)
    if data.has_dev:
        prior = 1.0 if mixture is None else mixture.origin.temperature
        task, metrics["dev"], temperature = finish_on_dev(best, scale, data, training, prior)
        if temperature is not None:
            metrics["temperature"] = temperature
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


def libraries() -> dict[str, str]:
    """What computes, and on how many threads."""
    cpu = f"{threads()} thread{'s' * (threads() != 1)}"
    return {"numpy": np.__version__, "numba": numba.__version__, "cpu": cpu}


def with_linear_member(
    prepared: SparseTexts, inputs: SparseInputs, states: list[State], metrics: RunMetrics, recorder: Recorder
) -> Trained:
    """The committee with one more member, and with the words that only the vector files have."""
    config, vectors, data = prepared.config, inputs.vectors, inputs.data
    assert vectors is not None
    scale, training = config.model.scale, config.training
    if data.dev is not None:
        data = data._replace(dev=all_texts(vectors.indexer, prepared, "dev"))
    with threadpool_limits(1 if training.deterministic else None, "blas"):
        result = blend(states, scale, vectors, data, training)
    note_blend(result.mixture, metrics, data, training, recorder)
    if "test" in prepared.parts:
        test = all_texts(vectors.indexer, prepared, "test")
        metrics["test"] = score_on(result.lookup, result.mixture.task, test)
    weights = state_of(result.lookup, scale)
    return Trained(config, vectors.indexer.tokenizer, result.mixture.task, metrics, weights=weights)


def with_spelling_member(
    prepared: SparseTexts,
    inputs: SparseInputs,
    states: list[State],
    squares: list[State],
    metrics: RunMetrics,
    recorder: Recorder,
) -> Trained:
    """The committee with one more member, which reads letters; training may continue with it."""
    config, data = prepared.config, inputs.data
    spelling = find_spelling(inputs.tokenizer, data.members[0].source.some(), config.model.scale)
    with threadpool_limits(1, "blas"):  # vectors are too short for several threads
        states, mixture = with_spelling(states, config.model.scale, spelling, data, config.training)
    note_blend(mixture, metrics, data, config.training, recorder)
    if "test" in prepared.parts:
        test = CommitteeData([], all_texts(inputs.indexer, prepared, "test"), mixture.task)
        metrics["test"] = evaluate_committee(states, config.model.scale, test)[0]
    sums = kept_squares([*squares, default_squares(states[-1])]) if squares[0] else None
    tokenizer, weights = inputs.tokenizer, join_members(states)
    return Trained(config, tokenizer, mixture.task, metrics, weights=weights, accumulators=sums)


def note_blend(mixture: Mix, metrics: RunMetrics, data: CommitteeData, training: Training, recorder: Recorder) -> None:
    if mixture.temperature is not None:
        metrics["temperature"] = mixture.temperature
    if mixture.dev is not None:
        metrics["dev"] = mixture.dev
    note_threshold(mixture.task, data.has_dev, training.threshold, recorder)


def compare(prepared: SparseTexts, inputs: SparseInputs, mixture: Mixture) -> Comparison:
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
