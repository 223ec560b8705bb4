"""`regard serve`: the port and the page first, then the models, then answers until Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from regard.errors import InputError
from regard.models.folder import check_finished
from regard.models.trained import Trained
from regard.serve.served import Served, run_names
from regard.serve.server import Server

MOST_RUNS = 2
REST = 5.0  # seconds for the requests in hand when the server stops
LOOK = 1.0  # seconds between two looks whether Ctrl-C was pressed, where waiting cannot be interrupted


def serve(folders: Sequence[str], load: Callable[[str], Trained], port: int, show: bool = False) -> None:
    """`load` makes a model of a folder; `show` opens a browser. To load PyTorch can take seconds: the page says so."""
    if len(folders) > MOST_RUNS:
        raise InputError(f"{len(folders)} runs are given; one, or two side by side, is accepted")
    names = run_names(folders)
    for folder in folders:
        check_finished(folder)
    told = " and ".join(names)
    served: list[Served] = []
    with Server(port) as server, answering(server) as thread, terminated_as_interrupted():
        try:
            print(f"{server.address} is open, {told} being loaded  (Ctrl-C ends)", flush=True)
            if show:
                open_browser(server.address)
            served += [Served(name, load(folder)) for name, folder in zip(names, folders, strict=True)]
            server.application.take(served)
            for run in served:
                # in the background: a browser takes longer to open
                threading.Thread(target=run.warm, daemon=True).start()
            print(f"{told} ready", flush=True)
            while thread.is_alive():
                thread.join(LOOK)
        except KeyboardInterrupt:
            print("stopped", flush=True)
            server.rest(REST)
            for run in served:
                run.rest(REST)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not meet libraries that are unloading


@contextmanager
def answering(server: Server) -> Iterator[threading.Thread]:
    """A thread that answers requests; this one is free to load models, and to be interrupted while it does."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        server.shutdown()


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends as Ctrl-C does, after the answers in hand."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
