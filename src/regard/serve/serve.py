"""`regard serve`: the port first, then the models, then answers until Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence

from regard.errors import InputError
from regard.models.trained import Trained
from regard.serve.application import Application
from regard.serve.served import Served, run_names
from regard.serve.server import Server

MOST_RUNS = 2
REST = 5.0  # seconds for a request in hand when the server stops


def serve(folders: Sequence[str], load: Callable[[str], Trained], port: int, show: bool = False) -> None:
    """`load` makes a model of a folder; `show` opens a browser."""
    if len(folders) > MOST_RUNS:
        raise InputError(f"{len(folders)} runs are given; one, or two side by side, is accepted")
    names = run_names(folders)
    with Server(port) as server:
        served = [Served(name, load(folder)) for name, folder in zip(names, folders, strict=True)]
        server.application = Application(served)
        for run in served:
            # in the background: a browser takes longer to open
            threading.Thread(target=run.warm, daemon=True).start()
        print(f"{' and '.join(names)} at {server.address}  (Ctrl-C ends)", flush=True)
        if show:
            open_browser(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped", flush=True)
            for run in served:
                run.rest(REST)
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not meet libraries that are unloading


def open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
