"""Ray for sweeps, searches and scoring: `--on ray` starts it on this machine, `--on ray:HOST:PORT` joins a cluster.

Machines of a cluster need the same version of regard, and the same corpora or files under the same paths.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from regard import __version__
from regard.errors import InputError
from regard.extras import import_extra

SETTINGS = 4  # the type of a frame of HTTP/2
REACHED_WITHIN = 5.0  # seconds; Ray itself would try for minutes
TOKEN = (
    "; a cluster that asks for a token, as `ray start` sets it up where ~/.ray/auth_token exists, is joined with "
    "RAY_AUTH_MODE=token and the same token in that file or in RAY_AUTH_TOKEN"
)


class Needs(NamedTuple):
    """What a task occupies while it runs."""

    cpus: float = 1
    gpus: float = 0
    memory: float | None = None  # GB; None: not counted

    def as_options(self) -> dict[str, Any]:
        """The options of a Ray task or actor."""
        memory = {} if self.memory is None else {"memory": int(self.memory * 2**30)}
        return {"num_cpus": self.cpus, "num_gpus": self.gpus, **memory}

    def slots(self, resources: Mapping[str, float]) -> int:
        """How many fit into these resources of a cluster."""
        limits = [resources.get(name, 0) / need for name, need in (("CPU", self.cpus), ("GPU", self.gpus)) if need]
        if self.memory:
            limits.append(resources.get("memory", 0) / (self.memory * 2**30))
        return int(min(limits, default=1))


ONE_CORE = Needs()


def parse_address(where: str) -> str | None:
    """HOST:PORT of a cluster; None for this machine. `where` is the value of --on."""
    name, colon, address = where.partition(":")
    host, _, port = address.rpartition(":")
    if name != "ray" or (colon and not (host and port.isdecimal())):
        raise InputError(f"--on: expected ray, or ray:HOST:PORT for a cluster, got {where!r}")
    return address or None


@contextmanager
def connected(where: str, needs: Needs) -> Iterator[Any]:
    """The module `ray`, connected for the time of a command. A connection that exists already is used and kept."""
    address = parse_address(where)
    # Ray asks to set this until its next version; without it every task warns
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray = import_extra("ray", "--on ray")
    if ray.is_initialized():
        check_resources(ray, needs)
        yield ray
        return
    if address is not None:
        check_reachable(address)
    # without "local", Ray would join a cluster that somebody has started on this machine, which may end at any time
    options: dict[str, Any] = {"address": address} if address else {"address": "local", "include_dashboard": False}
    try:
        ray.init(log_to_driver=False, configure_logging=False, namespace="regard", **options)
    except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        # versions of Ray or Python that differ are a RuntimeError of several lines; a token that is nowhere is a RayError,
        # but one that the cluster misses is a ConnectionError that does not say so
        reason = " ".join(str(error).split())[:300]
        advice = TOKEN if address is not None and isinstance(error, ConnectionError) else ""
        raise InputError(f"--on {where}: Ray could not connect ({reason}){advice}") from None
    try:
        check_resources(ray, needs)
        yield ray
    finally:
        ray.shutdown()


def check_reachable(address: str) -> None:
    host, _, port = address.rpartition(":")
    advice = f"start a cluster there with `ray start --head --port {port}`, or use --on ray for this machine"
    try:
        with socket.create_connection((host, int(port)), REACHED_WITHIN) as connection:
            connection.settimeout(REACHED_WITHIN)
            answers = os.environ.get("RAY_USE_TLS") == "1" or speaks_grpc(connection)
    except (OSError, OverflowError) as error:
        raise InputError(f"--on ray:{address}: no answer ({error}); {advice}") from None
    if not answers:
        raise InputError(f"--on ray:{address}: expected the port of a Ray cluster, got another service; {advice}")


def speaks_grpc(connection: socket.socket) -> bool:
    """Whether the other side begins as a server of HTTP/2 does, with its settings (RFC 9113, 3.4). Ray would try for minutes."""
    connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, SETTINGS, 0, 0, 0, 0, 0)))
    try:
        head = connection.recv(9)
    except TimeoutError:
        return False
    return len(head) == 9 and head[3] == SETTINGS


def check_resources(ray: Any, needs: Needs) -> None:
    resources = ray.cluster_resources()
    if needs.slots(resources) < 1:
        has = ", ".join(f"{resources.get(name, 0):g} {name}s" for name in ("CPU", "GPU"))
        if needs.memory is not None:
            has += f", {resources.get('memory', 0) / 2**30:.1f} GB"
        raise InputError(
            f"--on ray: expected a cluster with room for a task of {needs.cpus:g} CPUs and {needs.gpus:g} GPUs"
            f"{'' if needs.memory is None else f' and {needs.memory:g} GB'}, got {has} in all"
        )


def check_version(version: str) -> None:
    """Called in a task: refuse to compute with another version than the process that started it."""
    if version != __version__:
        raise InputError(
            f"{socket.gethostname()}: expected regard {version}, as on the machine that started the command, got {__version__}; "
            "install the same version on every machine of the cluster"
        )
