"""Which options are tried, and within which bounds. Options that the user has given are left alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from regard.config import Config, level_names
from regard.training.defaults import LEARNING_RATES

Value = float | int | bool | str


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`. `log`: a factor counts the same everywhere, as for learning rates."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def including(self, value: Value) -> Range:
        assert isinstance(value, (int, float))
        return replace(self, low=min(self.low, value), high=max(self.high, value))


@dataclass(frozen=True)
class Choices:
    values: tuple[Value, ...]

    def including(self, value: Value) -> Choices:
        return self if value in self.values else Choices((*self.values, value))


Space = dict[str, Range | Choices]
FAST: Space = {
    "lr": Range(0.02, 1.0, log=True),
    "epochs": Range(2, 20, log=True, whole=True),
    "scale": Range(0.5, 30.0, log=True),
    "dropout": Range(0.0, 0.5),
    "pairs": Choices((True, False)),
    "beginnings": Choices((0, 4, 5, 6)),
    "min_count": Range(1, 5, whole=True),
    "embedding": Choices((8, 16, 32, 64)),
}
TORCH: Space = {
    "lr": Range(3e-4, 1e-2, log=True),
    "dropout": Range(0.0, 0.5),
    "hidden": Choices((60, 120, 240)),  # of three windows and of two directions alike
    "embedding": Choices((50, 100, 200)),
    "pooling": Choices(("attention", "apln", "average", "max")),
}
FINE_TUNED: Space = {"lr": Range(1e-5, 1e-4, log=True), "dropout": Range(0.0, 0.3), "pooling": TORCH["pooling"]}
NO_STATES = {"embedding", "bert"}  # encoders whose states have a width of their own


def search_space(config: Config, given: Collection[str]) -> Space:
    """For options with nothing left open. Every range includes the default, which is the first trial."""
    defaults = default_values(config)
    space = {name: one.including(defaults[name]) for name, one in candidates(config).items() if name not in given}
    if config.data.vectors is not None:
        space.pop("embedding", None)  # the file decides
    return space


def candidates(config: Config) -> Space:
    if config.training.engine == "sparse":
        return dict(FAST)
    if config.model.reads_pieces:
        return dict(FINE_TUNED)
    space = dict(TORCH)
    if set(level_names(config.model.encoder)) <= NO_STATES:
        del space["hidden"]
    return space


def default_values(config: Config) -> dict[str, Value]:
    values = {**vars(config.data), **vars(config.model), **vars(config.training)}
    if values["lr"] is None:
        values["lr"] = LEARNING_RATES[config.training.optimizer]
    return {name: rounded(value) for name, value in values.items() if isinstance(value, (bool, int, float, str))}


def rounded(value: Value) -> Value:
    """Numbers with three significant digits: what is trained is what the command line says."""
    return float(f"{value:.3g}") if isinstance(value, float) else value
