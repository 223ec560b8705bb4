"""Trials on a Ray cluster: workers train and score. Optuna runs where the command was started, so its journal has one writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from regard.errors import InputError
from regard.ray_cluster import Needs
from regard.ray_tasks import ANSWER, LOST, RayTasks, Send
from regard.tuning.scoring import Splits, score
from regard.tuning.search import Outcome, Proposal, Reporting
from regard.tuning.space import Value


class RayTrials:
    def __init__(self, ray: Any, needs: Needs, splits: Splits) -> None:
        device = "cuda" if needs.gpus else "cpu"
        self.tasks: RayTasks[Proposal] = RayTasks(
            ray, needs, score_trial, (ray.put(splits), device), payload=lambda proposal: proposal.options
        )

    @property
    def slots(self) -> int:
        return self.tasks.slots

    def run(self, take: Callable[[], Proposal | None], report: Reporting) -> Iterator[Outcome | None]:
        for event in self.tasks.run(take):
            if event is None:
                yield None
            elif event.kind == ANSWER:
                value, error = event.content
                yield Outcome(event.item, value, error)
            elif event.kind == LOST:
                yield Outcome(event.item, error=event.content)
            elif report(event.item, *event.content):
                self.tasks.cancel(event.item)
                yield Outcome(event.item)


def score_trial(options: dict[str, Value], send: Send, splits: Splits, device: str) -> tuple[float | None, str]:
    """In a worker of the cluster: the score, or why there is none."""
    config = splits.config.override({**options, "device": device})
    try:
        return score(config, splits, lambda value, step: send("report", (value, step))), ""
    except InputError as error:
        return None, str(error)
