"""Steps of the fast engine on several threads that share each batch.

The threads wait for each other twice per step. If another process needs a core, one of them is not running when it is waited
for, and two threads take several times as long as one. So one thread works alone whenever that was faster lately: the result
is the same for any number of threads.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.unit_texts import UnitTexts
from regard.kernels import sparse_steps as steps
from regard.models.flat import EMBEDDING
from regard.training.sparse_batch import Objective, State, Worker

PARTS = 2  # that a batch is split into, at most one per thread; fixed, so that every machine computes the same
MIN_UNITS = 4000  # per batch; splitting smaller batches does not pay
TRIED_FIRST = 2  # calls with each number of threads at the beginning
TRIED_AGAIN = 16  # calls after which the slower number of threads is tried once more


class WorkerPool:
    """Takes steps on several threads that wait for each other: the weights do not depend on their number."""

    def __init__(self, state: State, squares: State, objective: Objective, adagrad: bool, threads: int) -> None:
        self.workers = [Worker(state, squares, objective, adagrad) for _ in range(PARTS)]
        self.pace = Pace(1 << (min(threads, PARTS).bit_length() - 1))  # a power of two
        self.threads = self.pace.most  # that share a step now
        self.pool = ThreadPoolExecutor(PARTS)
        self.stamps = np.zeros(len(state[EMBEDDING]), dtype=np.int32)
        self.slots = np.empty(len(state[EMBEDDING]), dtype=np.int64)
        self.clock = 0
        self.results: list[Any] = [None] * PARTS
        self.arrived: list[int] = []
        self.failed = False

    def steps(
        self, texts: UnitTexts, batches: list[NDArray[np.int64]], rates: list[float], dropout: float, seed: int
    ) -> float:
        """One step per batch. Returns the sum of the losses before each."""
        units = sum(int((texts.offsets[batch + 1] - texts.offsets[batch]).sum()) for batch in batches)
        if units < MIN_UNITS * len(batches):
            return self.workers[0].steps(texts, batches, rates, dropout, seed)

        losses = np.zeros((len(batches), PARTS))  # summed at the end: in one order, whoever computed them

        def work(thread: int) -> None:
            try:
                with np.errstate(all="ignore"):  # a setting of each thread; the caller checks the loss
                    for number, (batch, rate) in enumerate(zip(batches, rates, strict=True)):
                        self.gradients(thread, texts, batch, dropout, seed, losses[number])
                        self.wait(thread)
                        self.update(thread, rate, self.clock + number + 1)
                        self.wait(thread)
            except BaseException:
                self.failed = True  # otherwise the others would wait forever
                raise

        self.threads = self.pace.choose()
        self.arrived, begin = [0] * self.threads, time.perf_counter()
        others = [self.pool.submit(work, thread) for thread in range(1, self.threads)]
        work(0)
        for other in others:
            other.result()
        self.pace.record(self.threads, (time.perf_counter() - begin) / units)
        self.clock += len(batches)
        return float(losses.sum())

    def gradients(
        self,
        thread: int,
        texts: UnitTexts,
        chosen: NDArray[np.int64],
        dropout: float,
        seed: int,
        losses: NDArray[np.float64],
    ) -> None:
        """Compute the gradients of one thread's parts of a batch, and the sum of the losses of each part."""
        parts = parts_of(texts, chosen)
        for part in range(thread, PARTS, self.threads):
            self.results[part] = None
            if len(parts[part]):
                self.results[part] = self.workers[part].gradient(texts, parts[part], dropout, seed, len(chosen))
                losses[part] = self.results[part][0]

    def update(self, thread: int, rate: float, clock: int) -> None:
        """Update the rows that one thread owns; the first thread also updates all other weights."""
        worker = self.workers[thread]
        results = [result for result in self.results if result is not None]
        rows, gradients = tuple(result[1] for result in results), tuple(result[2][EMBEDDING] for result in results)
        table, most = worker.state[EMBEDDING], sum(map(len, rows))
        if most > len(worker.merged_rows):
            worker.merged_rows = np.empty(most * 5 // 4, dtype=np.int32)
            worker.merged_gradients = np.empty((most * 5 // 4, table.shape[1]), dtype=worker.dtype)
        steps.update_merged(
            table,
            worker.squares.get(EMBEDDING, table),
            rows,
            gradients,
            rate,
            worker.objective.l2,
            worker.method,
            self.stamps,
            self.slots,
            clock,
            thread,
            self.threads,
            worker.merged_rows,
            worker.merged_gradients,
        )
        if thread == 0:
            worker.update_others([result[2] for result in results], rate)

    def wait(self, thread: int) -> None:
        """A barrier that spins: waking a thread takes a tenth of a millisecond, and there are two barriers per step."""
        self.arrived[thread] += 1
        while min(self.arrived) < self.arrived[thread]:
            if self.failed:
                raise RuntimeError("another thread failed")
            yield_core()

    def close(self) -> None:
        self.pool.shutdown()


class Pace:
    """Which number of threads is faster at the moment: all of them, or one alone."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.seconds: dict[int, float] = {}  # per unit, in the latest calls with this number of threads
        self.tried = dict.fromkeys((1, most), 0)
        self.calls = 0  # since the slower one was tried

    def choose(self) -> int:
        counts = {self.most, 1}
        if self.tried[1] < TRIED_FIRST:
            return min(counts, key=lambda count: (self.tried[count], -count))
        best = min(counts, key=self.seconds.__getitem__)
        self.calls += 1
        if len(counts) == 1 or self.calls < TRIED_AGAIN:
            return best
        self.calls = 0
        return min(counts - {best})

    def record(self, threads: int, seconds: float) -> None:
        """One slow call does not decide; the first of all also writes to new memory, which takes long, and is forgotten."""
        self.tried[threads] += 1
        weight = 1.0 if self.tried[threads] <= TRIED_FIRST else 0.5
        self.seconds[threads] = (1 - weight) * self.seconds.get(threads, 0.0) + weight * seconds


def parts_of(texts: UnitTexts, chosen: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """A batch split into PARTS with about the same number of units; a part may be empty."""
    ends = np.cumsum(texts.offsets[chosen + 1] - texts.offsets[chosen])
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, PARTS) / PARTS)
    return np.split(chosen, np.minimum(cuts + 1, len(chosen)))


def yield_core() -> None:
    """Release the interpreter, and the core if another process needs it."""
    if sys.platform == "linux":
        os.sched_yield()
    else:
        time.sleep(0)
