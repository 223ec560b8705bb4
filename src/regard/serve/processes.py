"""`--workers N`: several processes with a model each, which share one port."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import NamedTuple

from regard.errors import InputError
from regard.report.text.characters import print_line
from regard.serve.server import GRACE, MARGIN
from regard.serve.serving import POLL, Announce, Served, serve_until_interrupted, terminated_as_interrupted

READY = ""  # what a worker sends when its models are loaded; otherwise a sentence that says why they are not


class Worker(NamedTuple):
    process: SpawnProcess
    messages: Connection


def serve_in_processes(served: Served, listening: socket.socket, count: int, announce: Announce) -> None:
    """Like `serve_until_interrupted`. A worker that ends unexpectedly is replaced, unless it ends while it loads."""
    workers: list[Worker] = []
    with terminated_as_interrupted():
        try:
            workers += [start_worker(served, listening) for _ in range(count)]
            announce.opened()
            supervise(workers, served, listening, announce.ready)
        except KeyboardInterrupt:
            announce.stopping()
        finally:
            listening.close()
            stop_workers(workers)


def start_worker(served: Served, listening: socket.socket, load_first: bool = False) -> Worker:
    """In a fresh process: a forked one would share the state of compiled code and threads.

    `load_first` while others answer: requests should not reach a process that can only tell them to try again.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=work, args=(served, listening, theirs, load_first))
    process.start()
    theirs.close()
    return Worker(process, ours)


def work(served: Served, listening: socket.socket, messages: Connection, load_first: bool) -> None:
    # a terminal sends Ctrl-C to all processes; the first one stops the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=stop_with_supervisor, args=(messages,), daemon=True).start()
    announce = Announce(opened=lambda: None, ready=lambda: messages.send(READY), stopping=lambda: None)
    try:
        serve_until_interrupted(served, listening, announce, load_first)
    except InputError as error:
        with suppress(OSError):  # the first process has ended
            messages.send(str(error))
    except KeyboardInterrupt:
        pass  # the first process stops this one while it loads, or while it stops anyway


def stop_with_supervisor(messages: Connection) -> None:
    """Stop if the first process has ended without stopping this one."""
    try:
        messages.recv()
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGTERM)


def supervise(workers: list[Worker], served: Served, listening: socket.socket, on_ready: Callable[[], None]) -> None:
    ready: set[Worker] = set()
    announced = False
    while True:
        wait([source for worker in workers for source in (worker.process.sentinel, worker.messages)], POLL)
        for place, worker in enumerate(workers):
            if worker not in ready and is_ready(worker, len(workers)):
                ready.add(worker)
            elif worker in ready and worker.process.exitcode is not None:
                ready.remove(worker)
                report(f"a worker process ended unexpectedly ({reason(worker)}); another one is loading")
                workers[place] = start_worker(served, listening, load_first=True)
        if len(ready) == len(workers) and not announced:
            announced = True
            on_ready()


def is_ready(worker: Worker, count: int) -> bool:
    """Whether its models are loaded; an InputError if they cannot be."""
    try:
        sentence = worker.messages.recv() if worker.messages.poll() else None
    except (EOFError, OSError):
        sentence = None
    if sentence:
        raise InputError(sentence)
    if sentence is None and worker.process.exitcode is not None:
        raise InputError(
            f"--workers {count}: expected every process to load the model, got one that ended ({reason(worker)}); "
            "is there enough memory?"
        )
    return sentence == READY


def reason(worker: Worker) -> str:
    code = worker.process.exitcode or 0
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def report(sentence: str) -> None:
    if sys.stderr is not None:
        print_line(f"regard: {sentence}", sys.stderr)


def stop_workers(workers: list[Worker]) -> None:
    """All at once; one that does not stop within the time for requests in progress is killed."""
    for worker in workers:
        worker.process.terminate()
    end = time.monotonic() + GRACE + MARGIN
    for worker in workers:
        worker.process.join(max(0.0, end - time.monotonic()))
        if worker.process.exitcode is None:
            worker.process.kill()
            worker.process.join()
