"""Early stopping with scripted dev scores: the same cases for both engines."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

# dev accuracies, patience -> the best epoch, the last one
CASES = [
    ([0.5, 0.9, 0.8, 0.7, 0.95], 2, 2, 4),
    ([0.5, 0.9, 0.8, 0.95, 0.7], 2, 4, 5),
    ([0.5, 0.9, 0.8, 0.7, 0.6], 0, 2, 5),
    ([0.5, 0.5, 0.5, 0.5, 0.5], 3, 1, 4),  # the first of equal ones
    ([0.0, 0.0, 0.0, 0.0, 0.1], 4, 5, 5),
]


def scripted(monkeypatch: pytest.MonkeyPatch, engine: ModuleType, accuracies: list[float]) -> None:
    """Replace the dev accuracies of an engine by these."""
    real, script = engine.evaluate, iter(accuracies)

    def evaluate(*arguments: Any) -> Any:
        scores, statistics = real(*arguments)
        return {**scores, "accuracy": next(script), "log_loss": 1.0}, statistics

    monkeypatch.setattr(engine, "evaluate", evaluate)
