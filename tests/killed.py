"""Runs that are killed and resumed: a recorder that kills them, and a comparison with uninterrupted runs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from regard.recorder import Silent


class Killed(BaseException):
    """Simulates `kill -9`: no code catches it, so nothing is cleaned up."""


class Kill(Silent):
    """Stops the run at the start of epoch `begin`, or at the third step of epoch `step`."""

    def __init__(self, begin: int = 0, step: int = 0):
        self.last_epoch, self.last_stepped_epoch = begin, step
        self.epoch = self.steps = 0

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.epoch, self.steps = epoch, 0
        if epoch == self.last_epoch:
            raise Killed

    def step(self, loss: float | None) -> None:
        self.steps += 1
        if (self.epoch, self.steps) == (self.last_stepped_epoch, 3):
            raise Killed


def weights(out: Path) -> bytes:
    return (out / "weights.safetensors").read_bytes()


def metrics_of(out: Path) -> dict[str, Any]:
    """metrics.json without the times."""
    metrics: dict[str, Any] = json.loads((out / "metrics.json").read_text())
    del metrics["seconds"]
    for record in metrics["history"]:
        del record["seconds"]
    return metrics


def assert_same_run(out: Path, uninterrupted: Path) -> None:
    assert weights(out) == weights(uninterrupted)
    assert metrics_of(out) == metrics_of(uninterrupted)
    assert sorted(os.listdir(out)) == sorted(os.listdir(uninterrupted))
    assert "checkpoint.safetensors" not in os.listdir(out)
