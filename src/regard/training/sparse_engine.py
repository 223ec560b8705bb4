"""The fast engine for the training loop (`training/loop`): trains a flat attention model on the CPU.

It updates only the rows that a text uses, and trains the weights of the same Classifier that PyTorch would train. Threads
share each step, which gives the same weights whatever their number; or, lock-free, each thread takes its own steps on the
shared weights without waiting (Hogwild, Niu et al. 2011), which does not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from regard.analysis.dynamics import Dynamics
from regard.config import Training
from regard.data.unit_texts import UnitTexts
from regard.kernels.attention import attend, attend_vectors
from regard.kernels.sparse_steps import KINDS
from regard.models.flat import (
    AFFINE,
    EMBEDDING,
    HEAD,
    HEAD_BIAS,
    PROJECT,
    QUERY,
    State,
    Tables,
    join_members,
    tables,
)
from regard.models.tasks import Task
from regard.recorder import Recorder
from regard.run_metrics import Metrics, SpreadRecord
from regard.training.checkpoint import (
    LARGEST_SUM,
    MODEL,
    Arrays,
    add_prefix,
    check_sums,
    check_weights,
    strip_prefix,
)
from regard.training.divergence import checked_answers, checked_loss
from regard.training.loop import EpochPlan, Evaluation
from regard.training.metrics import measure
from regard.training.schedule import Phase, ordinary
from regard.training.sparse_batch import Objective, Worker
from regard.training.unit_indexing import TextSource
from regard.training.worker_pool import WorkerPool

TICKS = 50  # progress reports per epoch
SQUARES = "squares/"  # prefix of Adagrad's sums in a checkpoint


def threads() -> int:
    """OMP_NUM_THREADS if it is set; otherwise the cores that this process may use, at most 16."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()  # elsewhere unknown
    return min(16, cores or 1)


class UnitData(NamedTuple):
    """Training texts, dev texts, and the task."""

    source: TextSource
    dev: UnitTexts | None
    task: Task


class SparseEngine:
    """Trains weights in place. As a context manager it ends its threads."""

    models = 1

    def __init__(
        self, state: State, data: UnitData, config: Training, scale: float, squares: State | None = None
    ) -> None:
        """`squares`: Adagrad's sums of earlier training."""
        self.current, self.data, self.config, self.scale = state, data, config, scale
        self.phases = [ordinary(config)]
        self.evaluated = data.dev or data.source.some()
        adagrad, count = config.optimizer == "adagrad", threads()
        objective = Objective(KINDS[data.task.kind], scale, config.l2, config.vtw)
        self.squares = squares or (zeros(state) if adagrad else {})
        self.pool = WorkerPool(state, self.squares, objective, adagrad, count) if config.deterministic else None
        self.workers = [] if self.pool else [Worker(state, self.squares, objective, adagrad) for _ in range(count)]
        self.threads = ThreadPoolExecutor(count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.threads.shutdown()
        if self.pool:
            self.pool.close()

    def begin_phase(self, index: int, recorder: Recorder) -> None: ...

    def run_epoch(self, plan: EpochPlan, recorder: Recorder, dynamics: Dynamics | None) -> list[float]:
        source, epoch = self.data.source, plan.epoch
        recorder.begin(epoch, self.config.epochs, count_ticks(self.config, source))
        total, seen = 0.0, 0
        for tick in epoch_ticks(self.config, source, epoch):
            with np.errstate(all="ignore"):  # a loss that is not finite is reported below
                total += self.steps(tick)
            seen += tick.size
            recorder.step(checked_loss(total / seen, f"epoch {epoch}"))
            if dynamics is not None:
                dynamics.record_within(epoch, seen, source.size)
        return [total / seen]

    def steps(self, tick: Tick) -> float:
        """One step per batch. Returns the sum of the losses before each."""
        dropout = self.config.dropout
        if self.pool:
            return self.pool.steps(tick.texts, tick.batches, tick.rates, dropout, tick.seed)

        def work(worker: int) -> float:
            share = slice(worker, None, len(self.workers))
            with np.errstate(all="ignore"):  # a setting of each thread; the caller checks the loss
                return self.workers[worker].steps(
                    tick.texts, tick.batches[share], tick.rates[share], dropout, tick.seed
                )

        return sum(self.threads.map(work, range(len(self.workers))))

    def evaluate(self, phase: Phase) -> list[Evaluation]:
        scores, spread = evaluate(self.current, self.scale, self.data.task, self.evaluated)
        return [
            Evaluation(
                scores,
                {"scores": {"words": spread}, "norms": {}},
                self.data.dev is not None,
                self.config.select or "accuracy",
            )
        ]

    def weights(self, model: int = 0, copied: bool = True, into: State | None = None) -> State:
        return copy_of(self.current, into or {}) if copied else dict(self.current)

    def load(self, weights: State, model: int = 0) -> None:
        overwrite(self.current, weights)

    def state(self) -> Arrays:
        return add_prefix(MODEL, self.current) | add_prefix(SQUARES, self.squares)

    def restore(self, arrays: Arrays) -> None:
        check_weights(arrays, self.squares, SQUARES, LARGEST_SUM)
        check_sums(strip_prefix(arrays, SQUARES).values(), SQUARES)
        self.load(strip_prefix(arrays, MODEL))
        overwrite(self.squares, strip_prefix(arrays, SQUARES))


def zeros(state: State) -> State:
    """Zeros of the same shapes, in pages that are allocated when a thread first writes to them."""
    return {name: np.zeros(value.shape, value.dtype) for name, value in state.items()}


def copy_of(state: State, into: State) -> State:
    """In the arrays `into` if they fit: a process that gets new memory spends more time on that than on copying."""
    copies = {}
    for name, value in state.items():
        old = into.get(name)
        fits = old is not None and old is not value and old.flags.writeable and old.shape == value.shape
        copies[name] = old if old is not None and fits else np.empty_like(value)
        np.copyto(copies[name], value)
    return copies


def overwrite(state: State, weights: State) -> None:
    """Copy the weights in place, except those that are the same arrays."""
    for name, value in weights.items():
        if state[name] is not value:
            state[name][...] = value


class Tick(NamedTuple):
    """Consecutive steps of an epoch, between two reports of progress."""

    texts: UnitTexts
    batches: list[NDArray[np.int64]]  # rows of the texts
    rates: list[float]  # the learning rate of each step
    seed: int  # of dropout

    @property
    def size(self) -> int:
        return sum(map(len, self.batches))


def steps_per_tick(config: Training, source: TextSource) -> int:
    return max(1, -(-source.size // (config.batch_size * TICKS)))


def count_ticks(config: Training, source: TextSource) -> int:
    return -(-source.size // (config.batch_size * steps_per_tick(config, source)))


def epoch_ticks(config: Training, source: TextSource, epoch: int) -> Iterator[Tick]:
    """Every training text once, in random order."""
    rng = np.random.default_rng((config.seed, epoch))
    every, seen = steps_per_tick(config, source), 0
    for texts, rows in source.blocks(rng):
        seed = int(rng.integers(1 << 62))
        order = rows[rng.permutation(len(rows))]
        batches = [order[start : start + config.batch_size] for start in range(0, len(order), config.batch_size)]
        for start in range(0, len(batches), every):
            part = batches[start : start + every]
            rates = [
                learning_rate(config, epoch, (seen + number * config.batch_size) / source.size)
                for number in range(len(part))
            ]
            tick = Tick(texts, part, rates, seed)
            yield tick
            seen += tick.size


def learning_rate(config: Training, epoch: int, done: float) -> float:
    """With decay it falls linearly to 0; `done` is the finished share of the epoch."""
    assert config.lr is not None  # `fill_defaults` sets it
    return config.lr * (1 - (epoch - 1 + done) / config.epochs) if config.decay else config.lr


def evaluate(state: State, scale: float, task: Task, texts: UnitTexts) -> tuple[Metrics, SpreadRecord]:
    """Scores on texts, and the distribution of the attention scores there."""
    logits, scores = read_by([state], scale, texts)
    return measure(task, checked_answers(task.answers(logits)), texts.labels.astype(np.float64)), spread_of(scores)


def read_by(states: Sequence[State], scale: float, texts: UnitTexts) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The logits of the texts by a committee of these members, and the attention scores of their units."""
    if AFFINE in states[0] or PROJECT in states[0]:
        return read_texts(tables(join_members(states), scale, len(states)), texts)
    logits = np.zeros((len(texts.labels), len(states[0][HEAD])), dtype=np.float32)
    scores = []
    for state in states:
        own, of_units = np.empty_like(logits), np.empty(len(texts.ids), dtype=np.float32)
        bias = state.get(HEAD_BIAS, np.zeros(logits.shape[1], dtype=np.float32))
        given = (texts.ids, texts.counts, texts.offsets, state[EMBEDDING], state[QUERY], scale, state[HEAD], bias)
        attend_vectors(*given, own, of_units)
        logits += own / np.float32(len(states))
        scores.append(np.repeat(of_units, texts.counts))
    return logits, np.concatenate(scores).astype(np.float64)


def read_texts(lookup: Tables, texts: UnitTexts) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """The logits of the texts, and the attention scores of their units."""
    logits = np.empty((len(texts.labels), len(lookup.bias)), dtype=np.float32)
    repeated, offsets = repeat_units(texts)
    attend(repeated, offsets, *lookup, logits, np.empty(0, dtype=np.float32))
    return logits, lookup.scores[repeated].astype(np.float64)


def spread_of(scores: NDArray[np.float64]) -> SpreadRecord:
    scores = scores if scores.size else np.zeros(1)
    return {
        "mean": float(scores.mean()),
        "std": float(scores.std()),
        "min": float(scores.min()),
        "max": float(scores.max()),
    }


def repeat_units(texts: UnitTexts) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Each unit as often as it occurs in its text, and where each text begins."""
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(texts.counts, dtype=np.int64)])
    return np.repeat(texts.ids, texts.counts), ends[texts.offsets]
