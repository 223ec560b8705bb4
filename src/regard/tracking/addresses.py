"""Where a run is logged: "tensorboard:DIR", "wandb:PROJECT" or "mlflow:EXPERIMENT"."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from regard.errors import InputError
from regard.tracking.log import Log
from regard.tracking.mlflow_log import check_mlflow, open_mlflow
from regard.tracking.tensorboard_log import check_tensorboard, open_tensorboard
from regard.tracking.wandb_log import check_wandb, open_wandb


class Tracker(NamedTuple):
    """A tracking tool."""

    named: str  # what stands after the colon
    check: Callable[[str], None]  # takes it, and refuses what could not be logged to; creates nothing
    open: Callable[[str, str, str | None], Log]  # takes it, the name of the run, and the id of the log to continue


TRACKERS = {
    "tensorboard": Tracker("DIR", check_tensorboard, open_tensorboard),
    "wandb": Tracker("PROJECT", check_wandb, open_wandb),
    "mlflow": Tracker("EXPERIMENT", check_mlflow, open_mlflow),
}
FORMS = [f"{name}:{tracker.named}" for name, tracker in TRACKERS.items()]


class Address(NamedTuple):
    text: str
    tracker: Tracker
    name: str  # of the folder, project or experiment


def parse_addresses(texts: Iterable[str]) -> list[Address]:
    """Checked addresses, each once: the package is installed, and a folder can be written."""
    addresses = [parse_address(text) for text in dict.fromkeys(texts)]
    for address in addresses:
        address.tracker.check(address.name)
    return addresses


def parse_address(text: str) -> Address:
    kind, _, name = text.partition(":")
    if kind not in TRACKERS:
        near = difflib.get_close_matches(kind.lower(), TRACKERS, 1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"log {text!r}: expected {', '.join(FORMS[:-1])} or {FORMS[-1]}, got {kind!r}{meant}")
    if not name.strip():
        named = TRACKERS[kind].named
        raise InputError(f"log {text!r}: expected {kind}:{named}, got no {named} after the colon")
    return Address(text, TRACKERS[kind], name)
