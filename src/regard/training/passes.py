"""A model reads labelled texts once, while it is trained: what its heads say of them, and what its attention did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from regard.models.tasks import LABEL, Task
from regard.training.divergence import checked_answers
from regard.training.metrics import measure, numbers
from regard.training.statistics import Statistics


class Pass:
    """Gathers from batches, which come in any order."""

    def __init__(self, task: Task, labels: NDArray[np.float64]) -> None:
        self.task, self.labels, self.statistics = task, labels, Statistics()
        self.said = {LABEL: task.answers(np.zeros((len(labels), task.out_dim)))}  # by head, in the order of the texts

    def add(self, rows: NDArray[np.int64], heads: Mapping[str, Tensor]) -> None:
        """The logits of every head, (B, C), for the texts of these numbers."""
        for head, logits in heads.items():
            own = self.said.setdefault(head, np.empty_like(self.said[LABEL]))
            own[rows] = self.task.answers(logits.double().cpu())

    def result(self, remedy: str = "lr") -> tuple[dict[str, Any], Statistics]:
        """Scores of the label's head, and the statistics with those of the others; refused where a head went astray."""
        said = {head: checked_answers(own, remedy) for head, own in self.said.items()}
        scores = {head: measure(self.task, own, self.labels) for head, own in said.items()}
        self.statistics.heads = {head: numbers(own) for head, own in scores.items() if head != LABEL}
        return scores[LABEL], self.statistics
