"""The socket that the server listens on, and the addresses by which it can be reached."""

from __future__ import annotations

import os
import socket
from ipaddress import ip_address

from regard.errors import InputError

HOST, PORT = "127.0.0.1", 8642
BACKLOG = 128  # connections that wait to be accepted


def listen(host: str = HOST, port: int = PORT) -> socket.socket:
    """Listen at once, so that a port in use is reported before a model is loaded."""
    if not 0 <= port <= 65535:
        raise InputError(f"--port: expected 0 to 65535 (0: any free port), got {port}")
    name = host.removeprefix("[").removesuffix("]")
    try:
        family, *_, address = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, UnicodeError) as error:
        why = error.strerror if isinstance(error, socket.gaierror) else "not a name"
        raise InputError(f"--host: expected an address or a name of this machine, got {host[:80]!r} ({why})") from None
    both = family == socket.AF_INET6 and name == "::" and socket.has_dualstack_ipv6()
    try:
        listening = socket.create_server(address[:2], family=family, backlog=BACKLOG, dualstack_ipv6=both)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)  # `strerror` would also contain the address
        where = f"--port {port}" if host == HOST else f"--host {host} --port {port}"
        raise InputError(f"{where}: {why}; choose another port, or 0 for any free one") from None
    # opened again with its protocol: without, asyncio would leave Nagle's algorithm on, and every answer would take 40 ms
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=listening.detach())


def port_of(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])


def is_local(listening: socket.socket) -> bool:
    """Whether only programs on this machine can reach it."""
    return ip_address(address_of(listening)).is_loopback


def is_any_address(listening: socket.socket) -> bool:
    """Whether it listens on all addresses of this machine."""
    return ip_address(address_of(listening)).is_unspecified


def bound_name(listening: socket.socket) -> str:
    """As a Host header has it: an IPv6 address is in brackets."""
    address = address_of(listening)
    return f"[{address}]" if ":" in address else address


def page_address(listening: socket.socket) -> str:
    """Where a browser on this machine finds the page."""
    name = HOST if is_any_address(listening) else bound_name(listening)
    return f"http://{name}:{port_of(listening)}/"


def address_of(listening: socket.socket) -> str:
    return str(listening.getsockname()[0]).partition("%")[0]
