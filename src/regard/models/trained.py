"""A model with all that is needed to read a text and say something about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.config import Config
from regard.data.collate import collate, in_order
from regard.data.tokenizer import Indexed, Tokenizer
from regard.models.classifier import Classifier
from regard.models.tasks import Task
from regard.values import Batch, Output

BATCH = 64


@dataclass
class Trained:
    config: Config
    tokenizer: Tokenizer
    task: Task
    model: Classifier
    metrics: dict[str, Any] = field(default_factory=dict)  # what training measured and found: metrics.json

    def answers(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Probabilities (texts, classes), or values (texts, 1), in the order of the texts."""
        indexed = [self.tokenizer.encode(text) for text in texts]
        return answers(self.model, self.task, indexed)


def answers(model: Classifier, task: Task, texts: Sequence[Indexed]) -> NDArray[np.float64]:
    columns = task.answers(torch.zeros(0, task.out_dim)).shape[1]
    found = np.empty((len(texts), columns))
    for rows, _, output in outputs(model, texts):
        found[rows] = task.answers(output.logits)
    return found


def outputs(model: Classifier, texts: Sequence[Indexed]) -> Iterator[tuple[NDArray[np.int64], Batch, Output]]:
    """Every text once, in batches of like length, without gradients: (row numbers, batch, output)."""
    device, levels = model.embedding.weight.device, len(model.levels)
    model.eval()
    for rows in in_order(texts, BATCH):
        batch = to_device(collate([texts[row] for row in rows], levels), device)
        with torch.inference_mode():
            output = model(batch)
        yield rows, batch, output


def to_device(batch: Batch, device: torch.device) -> Batch:
    labels = None if batch.labels is None else batch.labels.to(device, non_blocking=True)
    return Batch(batch.ids.to(device, non_blocking=True), batch.mask.to(device, non_blocking=True), labels)
