"""What a tracking tool must offer, and the numbers and settings that it gets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from regard.config import Config
from regard.run_metrics import EpochRecord, RunMetrics

Setting = bool | int | float | str
LABELLED = ("per_class", "confusion")  # metrics that name the labels, which may be as private as the texts


class Log(Protocol):
    """One run in a tracking tool. Methods raise whatever the tool raises, also long after it was opened."""

    @property
    def id(self) -> str:
        """What the tool calls the run, so that a resumed run finds it again."""

    @property
    def place(self) -> str:
        """Where to look at it."""

    def add_epoch(self, epoch: int, values: Mapping[str, float]) -> None:
        """Add the numbers of an epoch, or leave or replace those that the log has from before the run was resumed."""

    def add_result(self, epoch: int, settings: Mapping[str, Setting], metrics: Mapping[str, float]) -> None:
        """Add all options of the run, and the metrics of its best epoch."""

    def close(self, finished: bool) -> None:
        """The run has ended, or was stopped and may be resumed."""


def describe(error: Exception) -> str:
    """An error of a tracking tool, within a sentence."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def epoch_values(record: EpochRecord) -> dict[str, float]:
    """loss, seconds, dev/accuracy, norms/words/mean, scores/words/std, …"""
    return {name: value for name, value in numbers(record) if name != "epoch"}


def final_values(metrics: RunMetrics) -> dict[str, float]:
    """final/epochs, final/dev/accuracy, final/test/accuracy, …"""
    return dict(numbers(metrics, "final/"))


def numbers(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and name not in LABELLED:
            yield from numbers(value, f"{prefix}{name}/")
        elif isinstance(value, int | float) and math.isfinite(value):
            yield f"{prefix}{name}", float(value)


def settings_of(config: Config, metrics: RunMetrics) -> dict[str, Setting]:
    """All options that have a value, the versions they were trained with, and the run's fingerprint."""
    values = {
        f"{section}.{name}": value
        for section, options in config.sections()
        for name, value in vars(options).items()
        if value is not None
    }
    values |= {f"environment.{name}": value for name, value in metrics.get("environment", {}).items()}
    values |= {name: metrics[name] for name in ("engine", "fingerprint") if name in metrics}
    return {name: " ".join(map(str, value)) if isinstance(value, tuple) else value for name, value in values.items()}
