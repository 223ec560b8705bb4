"""`regard serve`: open the port and the page, load the models, then answer requests until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple

from regard.errors import InputError
from regard.models.model import Model
from regard.models.run_files import check_finished
from regard.report.text.characters import print_line
from regard.serve.listening import HOST, PORT, bound_name, is_any_address, is_local, listen, page_address
from regard.serve.processes import report, serve_in_processes
from regard.serve.senders import Senders, checked_hosts
from regard.serve.served_run import run_names
from regard.serve.serving import Announce, Served, Start, serve_until_interrupted
from regard.serve.tokens import MAKE_ONE, VARIABLE

MAX_RUNS, MAX_WORKERS = 2, 64


class Address(NamedTuple):
    """Where to listen, and to whom to answer."""

    host: str = HOST
    port: int = PORT
    allow_hosts: Sequence[str] = ()
    token: str | None = None
    needs_token: bool = True  # whether an address that other machines can reach needs one


def serve(
    folders: Sequence[str],
    load: Callable[[str], Model],
    address: Address,
    show: bool = False,
    check: Callable[[str], None] = check_finished,
    start: Start | None = None,
    workers: int = 1,
) -> None:
    """`load` reads the model in a folder, after `check` accepted it; `show` opens a browser."""
    if not 1 <= workers <= MAX_WORKERS:
        raise InputError(f"--workers: expected 1 to {MAX_WORKERS}, got {workers}")
    if len(folders) > MAX_RUNS:
        raise InputError(f"expected one run, or two to compare, got {len(folders)}")
    run_names(folders)  # refuses the same one twice
    hosts = checked_hosts(address.allow_hosts)
    for folder in folders:
        check(folder)
    with listen(address.host, address.port) as listening:
        check_token(address, listening)
        served = Served(folders, load, start or Start(), senders(hosts, listening), address.token)

        def opened() -> None:
            print_line(f"{page_address(listening)} is open; loading {served.listed} (Ctrl-C to stop)")
            if show:
                open_browser(page_address(listening))

        announce = Announce(
            opened,
            ready=lambda: print_line(f"{served.listed} ready"),
            stopping=lambda: print("stopped", flush=True),
        )
        if workers == 1:
            serve_until_interrupted(served, listening, announce)
        else:
            serve_in_processes(served, listening, workers, announce)


def check_token(address: Address, listening: socket.socket) -> None:
    """An address that other machines can reach needs a token, unless that is waived."""
    if is_local(listening) or address.token is not None:
        return
    if address.needs_token:
        raise InputError(
            f"--host {address.host}: expected a token, since other machines can reach this address, got none; "
            f"use --token-file FILE or set {VARIABLE} ({MAKE_ONE}), or pass --no-token"
        )
    report(f"without a token, everyone who can reach {address.host} can use this server")


def senders(hosts: tuple[str, ...], listening: socket.socket) -> Senders:
    if is_any_address(listening):
        return Senders(hosts, any_address=True)
    return Senders(hosts, None if is_local(listening) else bound_name(listening))


def open_browser(address: str) -> None:
    import webbrowser

    webbrowser.open(address)
