"""A committee for the training loop: several flat attention models of different random seeds that predict together.

Each member is trained by one thread at a time, so the weights depend neither on the number of threads nor on their timing.
Threads take turns: as soon as one has finished some steps of a member, it continues with the member that waits longest.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from regard.analysis.dynamics import Dynamics
from regard.config import Training
from regard.data.unit_texts import UnitTexts
from regard.kernels.sparse_steps import KINDS
from regard.models.flat import HEAD, HEAD_BIAS, State
from regard.models.tasks import Task
from regard.recorder import Recorder
from regard.run_metrics import Metrics, SpreadRecord
from regard.training.checkpoint import LARGEST_SUM, MODEL, Arrays, add_prefix, check_sums, check_weights, strip_prefix
from regard.training.divergence import checked_answers, checked_loss
from regard.training.loop import EpochPlan, Evaluation
from regard.training.metrics import measure
from regard.training.schedule import Phase, ordinary
from regard.training.silence import seen_units, silence
from regard.training.sparse_batch import Objective, Worker
from regard.training.sparse_engine import (
    SQUARES,
    Tick,
    copy_of,
    count_ticks,
    epoch_ticks,
    overwrite,
    read_by,
    spread_of,
    threads,
    zeros,
)
from regard.training.temperature import fit_temperature
from regard.training.thresholds import chooses_thresholds, with_thresholds
from regard.training.unit_indexing import TextSource


class MemberData(NamedTuple):
    """What one member is trained on, and which texts it holds out."""

    source: TextSource
    held: UnitTexts | None = None


class CommitteeData(NamedTuple):
    members: list[MemberData]
    dev: UnitTexts | None  # for all members; otherwise each is scored on the texts that it holds out
    task: Task

    @property
    def has_dev(self) -> bool:
        return self.dev is not None or any(member.held is not None for member in self.members)


def member_seed(seed: int, member: int) -> int:
    """The first member has the seed of the run."""
    return (seed + 1_000_003 * member) % (1 << 31)


class CommitteeEngine:
    """Trains the weights of all members in place. To the training loop it is one model."""

    models = 1

    def __init__(
        self,
        states: list[State],
        data: CommitteeData,
        config: Training,
        scale: float,
        squares: list[State] | None = None,
    ) -> None:
        """`squares`: Adagrad's sums of earlier training."""
        self.states, self.data, self.config, self.scale = states, data, config, scale
        self.phases = [ordinary(config)]
        adagrad = config.optimizer == "adagrad"
        objective = Objective(KINDS[data.task.kind], scale, config.l2, config.vtw)
        self.squares = squares or [zeros(state) if adagrad else {} for state in states]
        self.workers = [
            Worker(state, squares, objective, adagrad) for state, squares in zip(states, self.squares, strict=True)
        ]
        self.threads = ThreadPoolExecutor(threads())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.threads.shutdown(cancel_futures=True)

    def begin_phase(self, index: int, recorder: Recorder) -> None: ...

    def run_epoch(self, plan: EpochPlan, recorder: Recorder, dynamics: Dynamics | None) -> list[float]:
        """`dynamics` is always None: the config refuses to record committees."""
        sources = [member.source for member in self.data.members]
        recorder.begin(plan.epoch, self.config.epochs, sum(count_ticks(self.config, source) for source in sources))
        totals, seen = [0.0] * len(sources), 0  # added up by member, because members finish in any order
        for number, loss, size in self.side_by_side(
            [
                epoch_ticks(replace(self.config, seed=member_seed(self.config.seed, number)), source, plan.epoch)
                for number, source in enumerate(sources)
            ]
        ):
            totals[number] += loss
            seen += size
            recorder.step(checked_loss(sum(totals) / seen, f"epoch {plan.epoch}"))
        return [sum(totals) / seen]

    def side_by_side(self, members: list[Iterator[Tick]]) -> Iterator[tuple[int, float, int]]:
        """The member, the loss and the number of texts of every tick, in the order in which they finish."""
        running = {self.threads.submit(self.advance, number, ticks): number for number, ticks in enumerate(members)}
        while running:
            finished: set[Future[tuple[float, int] | None]] = wait(running, return_when=FIRST_COMPLETED).done
            for one in finished:
                number, result = running.pop(one), one.result()
                if result is not None:
                    running[self.threads.submit(self.advance, number, members[number])] = number
                    yield number, *result

    def advance(self, number: int, ticks: Iterator[Tick]) -> tuple[float, int] | None:
        """The next steps of one member; None after its last."""
        tick = next(ticks, None)
        if tick is None:
            return None
        worker = self.workers[number]
        with np.errstate(all="ignore"):  # a setting of each thread; the caller checks the loss
            return worker.steps(tick.texts, tick.batches, tick.rates, self.config.dropout, tick.seed), tick.size

    def evaluate(self, phase: Phase) -> list[Evaluation]:
        scores, spread = evaluate_committee(self.states, self.scale, self.data)
        return [Evaluation(scores, {"scores": {"words": spread}, "norms": {}}, self.data.has_dev, self.config.select)]

    def weights(self, model: int = 0, copied: bool = True, into: State | None = None) -> State:
        current = by_member(self.states)
        return copy_of(current, into or {}) if copied else current

    def load(self, weights: State, model: int = 0) -> None:
        overwrite(by_member(self.states), weights)

    def finished(self, weights: State, learned: list[NDArray[np.bool_]]) -> list[State]:
        """The members, each ignoring the units that it has never seen, because it held their texts out."""
        states = from_members(weights, len(self.states))
        for number, (state, squares) in enumerate(zip(states, self.squares, strict=True)):
            seen = seen_units(self.data.members[number].source, learned[number], squares)
            if seen is not None:
                silence(state, seen)
        return states

    def state(self) -> Arrays:
        return add_prefix(MODEL, by_member(self.states)) | add_prefix(SQUARES, by_member(self.squares))

    def restore(self, arrays: Arrays) -> None:
        check_weights(arrays, by_member(self.squares), SQUARES, LARGEST_SUM)
        check_sums(strip_prefix(arrays, SQUARES).values(), SQUARES)
        self.load(strip_prefix(arrays, MODEL))
        overwrite(by_member(self.squares), strip_prefix(arrays, SQUARES))


def by_member(states: list[State]) -> State:
    """All arrays in one dictionary: "0/head.weight", …"""
    return {f"{number}/{name}": value for number, state in enumerate(states) for name, value in state.items()}


def from_members(weights: State, members: int) -> list[State]:
    """The inverse of `by_member`."""
    return [strip_prefix(weights, f"{number}/") for number in range(members)]


class ReadTexts(NamedTuple):
    logits: NDArray[np.float32]  # (texts, C)
    labels: NDArray[np.float64]
    scores: NDArray[np.float64]  # attention scores of all units


def read_dev(states: list[State], scale: float, data: CommitteeData) -> ReadTexts:
    """The committee on the dev texts; or each member on the texts that it holds out; or the committee on training texts."""
    whole = data.dev if data.has_dev else data.members[0].source.some()
    if whole is not None:
        scored = [(states, whole)]
    else:
        rows = zip(states, data.members, strict=True)
        scored = [([state], member.held) for state, member in rows if member.held is not None]

    with ThreadPoolExecutor(min(threads(), len(scored))) as pool:  # each member by one thread
        answered = list(pool.map(lambda one: read_by(one[0], scale, one[1]), scored))
    labels: NDArray[np.float64] = np.concatenate([texts.labels for _, texts in scored]).astype(np.float64)
    logits, scores = zip(*answered, strict=True)
    return ReadTexts(np.concatenate(logits), labels, np.concatenate([one.ravel() for one in scores]))


def evaluate_committee(states: list[State], scale: float, data: CommitteeData) -> tuple[Metrics, SpreadRecord]:
    read = read_dev(states, scale, data)
    return score(data.task, read), spread_of(read.scores)


def score(task: Task, read: ReadTexts) -> Metrics:
    return measure(task, checked_answers(task.answers(read.logits)), read.labels)


def finish_on_dev(
    states: list[State], scale: float, data: CommitteeData, training: Training, prior: float
) -> tuple[Task, Metrics, float | None]:
    """Calibrate the states on the dev texts and choose thresholds: the task with these, its scores, and the temperature."""
    read, temperature = read_dev(states, scale, data), None
    if training.calibrate:
        temperature = fit_temperature(data.task, read.logits, read.labels, prior)
        calibrate(states, temperature)
        read = read._replace(logits=read.logits / np.float32(temperature))
    task = data.task
    if chooses_thresholds(task, training.threshold):
        # to the last digit as predictions will be, because a text may lie at the threshold
        read = read_dev(states, scale, data)
        task = with_thresholds(task, training.threshold, task.answers(read.logits), read.labels)
    return task, score(task, read), temperature


def calibrate(states: list[State], temperature: float) -> None:
    """Divide the output layers by the temperature."""
    for state in states:
        for name in (HEAD, HEAD_BIAS):
            if name in state:
                state[name] /= np.float32(temperature)
