"""Which senders are answered: requests to a known name of this server, and from its own pages.

A web page of another origin, open in the same browser, can send requests here. Therefore the Host must be a name of this
server (against DNS rebinding), the Origin, if there is one, must be this server, and requests must have the JSON content
type, which a page of another origin cannot send without CORS; no CORS header is ever sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import NamedTuple

from regard.errors import InputError
from regard.serve.request_errors import RequestError

NAMES = ("127.0.0.1", "localhost", "[::1]")  # of this machine


class Senders(NamedTuple):
    """`hosts` are names by which the server is known to others, for example to a proxy, each with or without a port."""

    hosts: tuple[str, ...] = ()
    bound: str | None = None  # the address that the server listens on, if it is not this machine's own
    any_address: bool = False  # whether the server listens on all addresses of this machine

    def check(self, hosts: list[str], origins: list[str], port: int | None) -> None:
        """`port`: of the server; None if it is unknown."""
        host = hosts[0].lower() if len(hosts) == 1 else None
        if host is None or not (host in self.known(port) or (self.any_address and is_address(host, port))):
            raise RequestError(403, self.expected_host(hosts, port))
        own = {f"http://{name}" for name in (host, *self.known(port))}
        own |= {f"https://{name}" for name in self.named(port)}
        if not {origin.lower() for origin in origins} <= own:
            raise RequestError(403, "requests from pages of other origins are refused")

    def known(self, port: int | None) -> set[str]:
        """Every accepted Host header."""
        if port is None:
            return self.named(port)
        names = NAMES if self.bound is None else (*NAMES, self.bound)
        bare = set(names) if port == 80 else set()
        return bare | {f"{name}:{port}" for name in names} | self.named(port)

    def named(self, port: int | None) -> set[str]:
        """The additional names; one without a port stands for the default ports of a proxy, and for the server's own."""
        bare = {name for name in self.hosts if not has_port(name)}
        return {*self.hosts} | {f"{name}:{port}" for name in bare}

    def expected_host(self, received: list[str], port: int | None) -> str:
        if self == Senders() and port is not None:
            return f"only requests to http://{NAMES[0]}:{port}/ are answered"
        shown = repr(received[0][:80]) if len(received) == 1 else f"{len(received)} of them"
        return (
            f"Host: expected one of {', '.join(sorted(self.known(port)))}, got {shown}; --allow-host NAME adds a name"
        )


def has_port(name: str) -> bool:
    return name.rpartition(":")[2].isdigit() and not name.endswith("]")


def is_address(host: str, port: int | None) -> bool:
    """Whether it is an IP address with this port. DNS rebinding needs a name, so that addresses are safe."""
    name, _, own_port = host.rpartition(":")
    if own_port != str(port):
        return False
    try:
        return ip_address(name.removeprefix("[").removesuffix("]")) is not None
    except ValueError:
        return False


def checked_hosts(names: Sequence[str]) -> tuple[str, ...]:
    """Names as a Host header has them: lower case, IPv6 addresses in brackets."""
    checked = []
    for name in names:
        if not name or not name.isascii() or any(character in "/@ *?#" for character in name):
            raise InputError(f"--allow-host: expected a name such as texts.example.org or name:8080, got {name[:80]!r}")
        checked.append(f"[{name}]".lower() if name.count(":") > 1 and not name.startswith("[") else name.lower())
    return tuple(checked)
