"""One process that serves: the page is available at once, answers follow when the models are loaded."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from regard.explain.attribute import checked_method
from regard.explain.targets import number
from regard.models.model import Model
from regard.serve.senders import Senders
from regard.serve.served_run import ServedRun, run_names
from regard.serve.server import GRACE, Server

POLL = 1.0  # seconds between checks for Ctrl-C, on systems where waiting cannot be interrupted


class Start(NamedTuple):
    """What is selected when the page opens; None: the models' default, and the predicted class."""

    method: str | None = None
    target: str | None = None


class Served(NamedTuple):
    """What is served, and to whom; `load` reads the model in a folder."""

    folders: Sequence[str]
    load: Callable[[str], Model]
    start: Start
    senders: Senders
    token: str | None

    @property
    def listed(self) -> str:
        return " and ".join(run_names(self.folders))


class Announce(NamedTuple):
    """What is called when the port is open, when the models are loaded, and when the server begins to stop."""

    opened: Callable[[], None]
    ready: Callable[[], None]
    stopping: Callable[[], None]


def serve_until_interrupted(
    served: Served, listening: socket.socket, announce: Announce, load_first: bool = False
) -> None:
    """Stops at Ctrl-C and SIGTERM, after the requests in progress.

    Loading PyTorch can take seconds. Until then the page says so, unless the models are to be loaded first.
    """
    server = Server(listening, served.senders, served.token)
    runs: list[ServedRun] = []

    def load() -> None:
        runs.extend(load_runs(served))
        server.application.set_runs(runs, *served.start)

    if load_first:
        load()
    stopped = time.monotonic()
    with terminated_as_interrupted(), server:
        try:
            announce.opened()
            if not load_first:
                load()
            for run in runs:
                # in the background: a browser takes longer to open
                threading.Thread(target=run.warm_up, daemon=True).start()
            announce.ready()
            while server.is_running():
                server.wait(POLL)
        except KeyboardInterrupt:
            announce.stopping()
            stopped = time.monotonic()
    for run in runs:  # so that no library is unloaded while a thread uses it
        run.wait_until_idle(max(0.0, stopped + GRACE - time.monotonic()))


def load_runs(served: Served) -> list[ServedRun]:
    """Also checks that every run has the method and the class that are selected at first."""
    names = run_names(served.folders)
    runs = [ServedRun(name, served.load(folder)) for name, folder in zip(names, served.folders, strict=True)]
    for run in runs:
        if served.start.method is not None:
            checked_method(run.trained, served.start.method, {})
        number(run.trained.task, served.start.target)
    return runs


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C: stop after the requests in progress."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
