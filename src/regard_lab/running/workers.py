"""Runs side by side: processes that each take a job, tell rows as they end, and may die without taking others along.

With no worker at all the jobs run in this process, one after the other: for a debugger, and for tests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.errors import InputError
from regard.recorder import Silent
from regard_lab.kinds.kinds import KINDS
from regard_lab.kinds.train import TooManySeeds
from regard_lab.results import complete, sentence
from regard_lab.rows import Row
from regard_lab.running.plan import Job, Queue
from regard_lab.tables.context import Context

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

REFRESH = 1.0  # seconds between two looks at the clock while nothing ends


class Event(NamedTuple):
    """What a worker says: begun, row, note, epoch, halved or done; and what of."""

    kind: str
    job: Job
    content: Any = None


class EventRecorder:
    """A recorder that passes notes and epochs on."""

    def __init__(self, tell: Callable[[str, Any], None]):
        self.tell = tell
        self.phase = ""

    def note(self, sentence: str) -> None:
        self.tell("note", sentence)

    def enter(self, phase: str) -> None:
        self.phase = f"{phase} · "

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.tell("epoch", f"{self.phase}epoch {epoch}/{epochs}")

    def step(self, loss: float | None) -> None: ...

    def end(self, record: Any) -> None: ...


class BrokenWorker(Exception):
    """Something happened that nobody foresaw, and a GPU may not have come out of it well: time for another process."""


def perform(job: Job, table: str, context: Context, tell: Callable[[str, Any], None]) -> Iterator[Row]:
    """The rows of a job. Whatever happens, each seed gets one."""
    left, device = list(job.seeds), context.device
    context.recorder = EventRecorder(tell)
    try:
        for result in KINDS[job.cell.kind].run(job.cell, job.seeds, context):
            left.remove(result["seed"])
            yield complete(job.cell, table, device, result)
    except TooManySeeds:  # a stack of seeds gives all its rows at the end, or none
        if len(job.seeds) > 1:
            raise
        full = "out of memory on the GPU with one seed alone; a smaller batch_size, max_words or hidden takes less"
        yield complete(job.cell, table, device, {"seed": job.seeds[0], "error": full})
        raise BrokenWorker from None
    except Exception as error:
        for seed in left:
            yield complete(job.cell, table, device, {"seed": seed, "error": sentence(error)})
        if not isinstance(error, InputError):
            raise BrokenWorker from error


def run_inline(queue: Queue, table: str, device: str) -> Iterator[Event]:
    notes: list[tuple[str, Any]] = []
    context = Context(device, Silent())
    while (job := queue.take()) is not None:
        yield Event("begun", job)
        try:
            for row in perform(job, table, context, lambda kind, content: notes.append((kind, content))):
                yield from [Event(kind, job, content) for kind, content in notes]
                notes.clear()
                yield Event("row", job, row)
        except TooManySeeds:
            yield Event("halved", job, queue.halve(job))
        except BrokenWorker:
            pass
        yield Event("done", job)


def serve(line: Connection, table: str, device: str, threads: int) -> None:
    """The life of a worker process."""
    import signal
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent ends its workers
    parent = parent_process()
    if parent is not None:  # a killed parent cannot
        threading.Thread(target=follow, args=(parent.join,), daemon=True).start()
    share_out(threads)
    context = Context(device, Silent())
    while (job := line.recv()) is not None:
        try:
            for row in perform(job, table, context, partial(tell, line, job)):
                tell(line, job, "row", row)
        except (TooManySeeds, BrokenWorker) as ending:
            tell(line, job, "too many" if isinstance(ending, TooManySeeds) else "broken", None)
            return
        tell(line, job, "done", None)


def tell(line: Connection, job: Job, kind: str, content: Any) -> None:
    line.send(Event(kind, job, content))


def follow(wait_for_end: Callable[[], None]) -> None:
    wait_for_end()
    os._exit(1)


def share_out(threads: int) -> None:
    """Before PyTorch and numba are loaded: as many threads as this process may use; 0 leaves them alone."""
    if threads:
        os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(threads)


class Worker:
    def __init__(self, table: str, device: str, threads: int):
        from multiprocessing import get_context

        context = get_context("spawn")  # a forked process cannot use CUDA, nor threads that were there before
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, table, device, threads), daemon=True)
        self.process.start()
        theirs.close()
        self.job: Job | None = None
        self.left: list[int] = []

    def begin(self, job: Job) -> None:
        self.job, self.left = job, list(job.seeds)
        with suppress(OSError):  # it died while it waited, which is heard next
            self.line.send(job)

    def stop(self) -> None:
        self.process.terminate()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.line.close()


def run_in_workers(queue: Queue, table: str, device: str, workers: int, threads: int) -> Iterator[Event | None]:
    """What happens in up to so many processes; None now and then, so that somebody can look at the clock."""
    from multiprocessing.connection import wait

    worker_counts: list[Worker] = []
    try:
        while True:
            while len(busy := [worker for worker in worker_counts if worker.job]) < workers and (job := queue.take()):
                idle = next((worker for worker in worker_counts if worker.job is None), None)
                if idle is None:
                    worker_counts.append(idle := Worker(table, device, threads))
                idle.begin(job)
                yield Event("begun", job)
            if not busy:
                return
            ready = wait([worker.line for worker in busy], REFRESH)
            if not ready:
                yield None
            for worker in busy:
                if worker.line in ready:
                    for told in heard(worker, table, device):
                        yield Event("halved", told.job, queue.halve(told.job)) if told.kind == "too many" else told
            for worker in [worker for worker in worker_counts if worker.job is None and not worker.process.is_alive()]:
                worker_counts.remove(worker)
    finally:
        for worker in worker_counts:
            worker.stop()


def heard(worker: Worker, table: str, device: str) -> Iterator[Event]:
    job = worker.job
    assert job is not None
    try:
        told = worker.line.recv()
    except (EOFError, OSError):  # killed: by the system for memory, or by somebody
        worker.process.join(5)
        code = worker.process.exitcode
        died = f"by signal {-code} (out of memory?)" if code and code < 0 else f"with code {code}"
        for seed in worker.left:
            error = f"the process that ran it was ended {died}"
            yield Event("row", job, complete(job.cell, table, device, {"seed": seed, "error": error}))
        worker.job = None
        worker.stop()
        yield Event("done", job)
        return
    if told.kind == "row":
        worker.left.remove(told.content["seed"])
    elif told.kind == "done":
        worker.job = None
    elif told.kind in ("broken", "too many"):
        worker.job = None
        worker.stop()
        yield told
        told = told._replace(kind="done")
    yield told
