"""`regard serve`: open the port and the page, load the models, then answer requests until Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from regard.errors import InputError
from regard.explain.attribute import checked_method
from regard.explain.targets import number
from regard.models.model import Model
from regard.models.run_files import check_finished
from regard.serve.served_run import ServedRun, run_names
from regard.serve.server import Server

MAX_RUNS = 2
GRACE = 5.0  # seconds for requests in progress when the server stops
POLL = 1.0  # seconds between checks for Ctrl-C, on systems where waiting cannot be interrupted


class Start(NamedTuple):
    """What is selected when the page opens; None: the models' default, and the predicted class."""

    method: str | None = None
    target: str | None = None


def serve(
    folders: Sequence[str],
    load: Callable[[str], Model],
    port: int,
    show: bool = False,
    check: Callable[[str], None] = check_finished,
    start: Start | None = None,
) -> None:
    """`load` reads the model in a folder, after `check` accepted it; `show` opens a browser. Loading PyTorch can take
    seconds; the page says so."""
    method, target = start or Start()
    if len(folders) > MAX_RUNS:
        raise InputError(f"expected one run, or two to compare, got {len(folders)}")
    names = run_names(folders)
    for folder in folders:
        check(folder)
    listed = " and ".join(names)
    runs: list[ServedRun] = []
    with Server(port) as server, answering(server) as thread, terminated_as_interrupted():
        try:
            print(f"{server.address} is open; loading {listed} (Ctrl-C to stop)", flush=True)
            if show:
                open_browser(server.address)
            runs += [ServedRun(name, load(folder)) for name, folder in zip(names, folders, strict=True)]
            for run in runs:
                if method is not None:
                    checked_method(run.trained, method, {})
                number(run.trained.task, target)  # refuses a class that a model does not have
            server.application.set_runs(runs, method, target)
            for run in runs:
                # in the background: a browser takes longer to open
                threading.Thread(target=run.warm_up, daemon=True).start()
            print(f"{listed} ready", flush=True)
            while thread.is_alive():
                thread.join(POLL)
        except KeyboardInterrupt:
            print("stopped", flush=True)
            server.wait_until_idle(GRACE)
            for run in runs:
                run.wait_until_idle(GRACE)
            signal.signal(
                signal.SIGINT, signal.SIG_IGN
            )  # a second Ctrl-C must not interrupt libraries while they unload


@contextmanager
def answering(server: Server) -> Iterator[threading.Thread]:
    """Answer requests in a separate thread; this one loads models and can be interrupted meanwhile."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        server.shutdown()


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C: stop after the requests in progress."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
