"""The fast engine: trains a flat attention model on the CPU, touching only the rows that a text uses.

It fills the weights of the same Classifier that PyTorch would train. Threads share each step, which gives the same
weights whatever their number; or, lock-free, each takes steps of its own on the same weights, without waiting (Hogwild,
Niu et al. 2011), which does not.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from regard.analysis.dynamics import Dynamics
from regard.config import Training
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.kernels.attention import attend
from regard.kernels.sparse_steps import KINDS
from regard.models.flat import State, tables
from regard.models.tasks import Task
from regard.recording import Recorder
from regard.training.checkpoint import SEEN, Arrays, Progress, below, read_arrays, write_arrays
from regard.training.divergence import checked_answers, checked_loss
from regard.training.metrics import measure
from regard.training.numbering import Source
from regard.training.sparse_batch import Crew, Form, Worker

TICKS = 50  # times that an epoch shows how far it is
SAVED_EVERY = 10.0  # seconds between two checkpoints: a shorter run is sooner done again than written down


def threads() -> int:
    """OMP_NUM_THREADS where it is set, as everywhere; else the cores that this process may use, up to 16."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    own = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()  # others cannot be asked
    return min(16, own or 1)


def train_sparse(
    state: State,
    source: Source,
    dev: UnitTexts | None,
    config: Training,
    scale: float,
    task: Task,
    recorder: Recorder,
    checkpoint: Path | None = None,
    identity: str = "",
    dynamics: Dynamics | None = None,
) -> Progress:
    """Train weights in place; the best epoch's are in the result. `dynamics` looks on."""
    with Trainer(state, config, Form(KINDS[task.kind], scale, config.l2, config.vtw)) as trainer:
        progress, saved = Progress(), time.perf_counter()
        if checkpoint is not None and checkpoint.exists():
            progress, recorded = go_on(checkpoint, identity, state, trainer.squares)
            recorder.note(f"going on after epoch {progress.epoch}")
            if dynamics is not None:
                dynamics.go_on(recorded)
        if dynamics is not None:
            dynamics.look(progress.epoch, state)
        seen = dev or next(source.blocks(np.random.default_rng(0)))
        while not progress.is_over(config.epochs, config.patience):
            epoch, begun = progress.epoch + 1, time.perf_counter()
            try:
                loss = trainer.epoch(source, epoch, recorder, dynamics)
                if dynamics is not None:
                    dynamics.look(epoch, state)
                scores, spread = evaluate(state, scale, task, seen)
            except InputError as error:
                there = checkpoint is not None and checkpoint.exists()
                raise InputError(
                    f"{error}; the last checkpoint stays in {checkpoint}" if there else str(error)
                ) from None
            record: dict[str, Any] = {"epoch": epoch, "loss": loss, "seconds": time.perf_counter() - begun}
            record |= {"scores": {"words": spread}, "norms": {}}
            if progress.add(record, scores, chosen_by_dev=dev is not None):
                progress.best = {name: value.copy() for name, value in state.items()}
            recorder.end(record)
            if checkpoint is not None and time.perf_counter() - saved > SAVED_EVERY:
                kept = {"model": state, "squares": trainer.squares, "best": progress.best}
                arrays = {f"{what}/{name}": value for what, named in kept.items() for name, value in named.items()}
                if dynamics is not None:
                    arrays |= {f"{SEEN}{name}": value for name, value in dynamics.arrays().items()}
                write_arrays(checkpoint, identity, progress, arrays)
                saved = time.perf_counter()
    return progress


def go_on(checkpoint: Path, identity: str, state: State, squares: State) -> tuple[Progress, Arrays]:
    """Put weights and Adagrad's sums where they were; what was recorded until then."""
    progress, arrays = read_arrays(checkpoint, identity)
    for what, into in (("model/", state), ("squares/", squares)):
        for name, value in below(arrays, what).items():
            into[name][...] = value
    progress.best = below(arrays, "best/")
    return progress, below(arrays, SEEN)


class Trainer:
    """Epochs of steps."""

    def __init__(self, state: State, config: Training, form: Form) -> None:
        self.config, self.state = config, state
        adagrad = config.optimizer == "adagrad"
        self.squares = {name: np.zeros_like(value) for name, value in state.items()} if adagrad else {}
        count = threads()
        self.crew = Crew(state, self.squares, form, adagrad, count) if config.deterministic else None
        self.workers = [] if self.crew else [Worker(state, self.squares, form, adagrad) for _ in range(count)]
        self.pool = ThreadPoolExecutor(count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown()
        if self.crew:
            self.crew.close()

    def epoch(self, source: Source, epoch: int, recorder: Recorder, dynamics: Dynamics | None = None) -> float:
        """The mean loss of an epoch, whose chance is a function of seed and epoch alone."""
        config = self.config
        chance = np.random.default_rng((config.seed, epoch))
        every = max(1, -(-source.size // (config.batch_size * TICKS)))  # steps a tick
        recorder.begin(epoch, config.epochs, -(-source.size // (config.batch_size * every)))
        total, seen = 0.0, 0
        for texts in source.blocks(chance):
            seed = int(chance.integers(1 << 62))
            order = chance.permutation(len(texts.labels)).astype(np.int64)
            batches = [order[start : start + config.batch_size] for start in range(0, len(order), config.batch_size)]
            for start in range(0, len(batches), every):
                part = batches[start : start + every]
                rates = [
                    self.rate(epoch, (seen + place * config.batch_size) / source.size) for place in range(len(part))
                ]
                with np.errstate(all="ignore"):  # what is not finite is said below, in words
                    total += self.steps(texts, part, rates, seed)
                seen += sum(map(len, part))
                recorder.step(checked_loss(total / seen, f"epoch {epoch}"))
                if dynamics is not None:
                    dynamics.within(epoch, seen, source.size, self.state)
        return total / seen

    def rate(self, epoch: int, done: float) -> float:
        config = self.config
        assert config.lr is not None  # `choose` fills it in
        return config.lr * (1 - (epoch - 1 + done) / config.epochs) if config.decay else config.lr

    def steps(self, texts: UnitTexts, batches: list[NDArray[np.int64]], rates: list[float], seed: int) -> float:
        dropout = self.config.dropout
        if self.crew:
            return self.crew.steps(texts, batches, rates, dropout, seed)

        def go(worker: int) -> float:
            own = range(worker, len(batches), len(self.workers))
            with np.errstate(all="ignore"):  # each thread has its own; who called looks at the loss
                return sum(self.workers[worker].step(texts, batches[i], rates[i], dropout, seed) for i in own)

        return sum(self.pool.map(go, range(len(self.workers))))


def evaluate(state: State, scale: float, task: Task, texts: UnitTexts) -> tuple[dict[str, Any], dict[str, float]]:
    """Scores on texts, and how the attention scores are spread there."""
    made = tables(state, scale)
    logits = np.empty((len(texts.labels), task.out_dim), dtype=np.float32)
    repeated, offsets = spelled_out(texts)
    attend(repeated, offsets, *made, logits, np.empty(0, dtype=np.float32))
    answers = checked_answers(task.answers(logits))
    scores = made.scores[repeated].astype(np.float64) if len(repeated) else np.zeros(1)
    spread = {"mean": scores.mean(), "std": scores.std(), "min": scores.min(), "max": scores.max()}
    return measure(task, answers, texts.labels.astype(np.float64)), {k: float(v) for k, v in spread.items()}


def spelled_out(texts: UnitTexts) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Units as often as they stand in each text."""
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(texts.counts, dtype=np.int64)])
    return np.repeat(texts.ids, texts.counts), ends[texts.offsets]
