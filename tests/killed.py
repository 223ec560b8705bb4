"""Runs that are killed and go on: what kills them, and what they must be the same in as unbroken ones."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from regard.recorder import Silent


class Killed(BaseException):
    """What `kill -9` is to a test: nobody expects it, so nobody cleans up after it."""


class Mortal(Silent):
    """Dies as the given epoch begins, or at its third step."""

    def __init__(self, begin: int = 0, step: int = 0):
        self.fatal, self.fatal_step = begin, step
        self.epoch = self.steps = 0

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.epoch, self.steps = epoch, 0
        if epoch == self.fatal:
            raise Killed

    def step(self, loss: float | None) -> None:
        self.steps += 1
        if (self.epoch, self.steps) == (self.fatal_step, 3):
            raise Killed


def weights(out: Path) -> bytes:
    return (out / "weights.safetensors").read_bytes()


def told(out: Path) -> dict[str, Any]:
    """metrics.json without the times."""
    metrics: dict[str, Any] = json.loads((out / "metrics.json").read_text())
    del metrics["seconds"]
    for record in metrics["history"]:
        del record["seconds"]
    return metrics


def assert_same_run(out: Path, unbroken: Path) -> None:
    assert weights(out) == weights(unbroken)
    assert told(out) == told(unbroken)
    assert sorted(os.listdir(out)) == sorted(os.listdir(unbroken))
    assert "checkpoint.safetensors" not in os.listdir(out)
