"""Parallel runs: processes that each take a job, send rows as they finish, and may die without affecting the others.

Without workers the jobs run in this process, one after the other: for a debugger, and for tests.
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
from regard_lab.results import complete, error_text
from regard_lab.rows import Row
from regard_lab.running.plan import Job, Queue
from regard_lab.tables.context import Context

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

REFRESH = 1.0  # seconds between updates of the display while nothing ends


class Event(NamedTuple):
    """What happens to a job: begun, row, note, epoch, halved or done."""

    kind: str
    job: Job
    content: Any = None


class EventRecorder:
    """A recorder that sends notes and epochs as events."""

    def __init__(self, send: Callable[[str, Any], None]):
        self.send = send
        self.phase = ""

    def note(self, sentence: str) -> None:
        self.send("note", sentence)

    def enter(self, phase: str) -> None:
        self.phase = f"{phase} · "

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.send("epoch", f"{self.phase}epoch {epoch}/{epochs}")

    def step(self, loss: float | None) -> None: ...

    def end(self, record: Any) -> None: ...


class BrokenWorker(Exception):
    """An unexpected error, after which a GPU may be in a bad state: start another process."""


def run_job(job: Job, table: str, context: Context, send: Callable[[str, Any], None]) -> Iterator[Row]:
    """The rows of a job, one per seed whatever happens."""
    left, device = list(job.seeds), context.device
    context.recorder = EventRecorder(send)
    try:
        for result in KINDS[job.cell.kind].run(job.cell, job.seeds, context):
            left.remove(result["seed"])
            yield complete(job.cell, table, device, result)
    except TooManySeeds:  # stacked seeds give all rows at the end, or none
        if len(job.seeds) > 1:
            raise
        full = "out of GPU memory with a single seed; use a smaller batch_size, max_words or hidden"
        yield complete(job.cell, table, device, {"seed": job.seeds[0], "error": full})
        raise BrokenWorker from None
    except Exception as error:
        for seed in left:
            yield complete(job.cell, table, device, {"seed": seed, "error": error_text(error)})
        if not isinstance(error, InputError):
            raise BrokenWorker from error


def run_inline(queue: Queue, table: str, device: str) -> Iterator[Event]:
    notes: list[tuple[str, Any]] = []
    context = Context(device, Silent())
    while (job := queue.take()) is not None:
        yield Event("begun", job)
        try:
            for row in run_job(job, table, context, lambda kind, content: notes.append((kind, content))):
                yield from [Event(kind, job, content) for kind, content in notes]
                notes.clear()
                yield Event("row", job, row)
        except TooManySeeds:
            yield Event("halved", job, queue.halve(job))
        except BrokenWorker:
            pass
        yield Event("done", job)


def worker_main(connection: Connection, table: str, device: str, threads: int) -> None:
    """The main function of a worker process."""
    import signal
    import threading
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent stops its workers
    parent = parent_process()
    if parent is not None:  # a killed parent cannot do that
        threading.Thread(target=exit_after, args=(parent.join,), daemon=True).start()
    limit_threads(threads)
    context = Context(device, Silent())
    while (job := connection.recv()) is not None:
        try:
            for row in run_job(job, table, context, partial(send, connection, job)):
                send(connection, job, "row", row)
        except (TooManySeeds, BrokenWorker) as ending:
            send(connection, job, "too many" if isinstance(ending, TooManySeeds) else "broken", None)
            return
        send(connection, job, "done", None)


def send(connection: Connection, job: Job, kind: str, content: Any) -> None:
    connection.send(Event(kind, job, content))


def exit_after(wait_for_end: Callable[[], None]) -> None:
    wait_for_end()
    os._exit(1)


def limit_threads(threads: int) -> None:
    """Set the number of threads before PyTorch and numba are loaded; 0 keeps the default."""
    if threads:
        os.environ["OMP_NUM_THREADS"] = os.environ["NUMBA_NUM_THREADS"] = str(threads)


class Worker:
    def __init__(self, table: str, device: str, threads: int):
        from multiprocessing import get_context

        context = get_context("spawn")  # a forked process can use neither CUDA nor existing threads
        self.connection, child_end = context.Pipe()
        self.process = context.Process(target=worker_main, args=(child_end, table, device, threads), daemon=True)
        self.process.start()
        child_end.close()
        self.job: Job | None = None
        self.left: list[int] = []

    def begin(self, job: Job) -> None:
        self.job, self.left = job, list(job.seeds)
        with suppress(OSError):  # it died while waiting, which `receive` reports next
            self.connection.send(job)

    def stop(self) -> None:
        self.process.terminate()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.connection.close()


def run_in_workers(queue: Queue, table: str, device: str, workers: int, threads: int) -> Iterator[Event | None]:
    """Events of up to `workers` processes; None from time to time, so that the caller can update the display."""
    from multiprocessing.connection import wait

    pool: list[Worker] = []
    try:
        while True:
            while len(busy := [worker for worker in pool if worker.job]) < workers and (job := queue.take()):
                idle = next((worker for worker in pool if worker.job is None), None)
                if idle is None:
                    pool.append(idle := Worker(table, device, threads))
                idle.begin(job)
                yield Event("begun", job)
            if not busy:
                return
            ready = wait([worker.connection for worker in busy], REFRESH)
            if not ready:
                yield None
            for worker in busy:
                if worker.connection in ready:
                    for event in receive(worker, table, device):
                        yield Event("halved", event.job, queue.halve(event.job)) if event.kind == "too many" else event
            for worker in [worker for worker in pool if worker.job is None and not worker.process.is_alive()]:
                pool.remove(worker)
    finally:
        for worker in pool:
            worker.stop()


def receive(worker: Worker, table: str, device: str) -> Iterator[Event]:
    job = worker.job
    assert job is not None
    try:
        event = worker.connection.recv()
    except (EOFError, OSError):  # killed by the system (out of memory) or by a user
        worker.process.join(5)
        code = worker.process.exitcode
        died = f"by signal {-code} (out of memory?)" if code and code < 0 else f"with code {code}"
        for seed in worker.left:
            error = f"its worker process ended {died}"
            yield Event("row", job, complete(job.cell, table, device, {"seed": seed, "error": error}))
        worker.job = None
        worker.stop()
        yield Event("done", job)
        return
    if event.kind == "row":
        worker.left.remove(event.content["seed"])
    elif event.kind == "done":
        worker.job = None
    elif event.kind in ("broken", "too many"):
        worker.job = None
        worker.stop()
        yield event
        event = event._replace(kind="done")
    yield event
