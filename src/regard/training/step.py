"""One step of training: forward, loss, backward, clip, optimiser."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn, optim

from regard.config import Training
from regard.models.classifier import Classifier
from regard.models.tasks import Task
from regard.models.trained import to_device
from regard.training.schedule import Phase, ordinary
from regard.training.states import States
from regard.values import Batch


@dataclass(frozen=True)
class Step:
    """`kept`, where given, holds the states that batches name the places of."""

    model: Classifier
    task: Task
    config: Training
    optimizer: optim.Optimizer
    phase: Phase | None = None  # ordinary training
    kept: States | None = None

    @property
    def device(self) -> torch.device:
        return self.model.embedding.weight.device

    @property
    def levels(self) -> int:
        return len(self.model.levels) if self.kept is None else 1

    def __call__(self, batch: Batch) -> Tensor:
        """Learn from a batch, wherever it is; the mean loss of its texts, ()."""
        batch = to_device(batch, self.device)
        assert batch.labels is not None
        phase = self.phase or ordinary(self.config)
        states = None if self.kept is None else self.kept.at(batch.ids)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.bf16):
            output = self.model(batch, head=phase.head, states=states)
        loss = self.task.loss(output.logits, batch.labels)
        descend(loss + penalty(output.terms, phase.terms), self.model, self.optimizer, self.config.clip)
        return loss.detach()


def penalty(terms: Mapping[str, Tensor], factors: Mapping[str, float]) -> Tensor | float:
    """What is added to the loss: each term by its factor."""
    return sum((factor * terms[name] for name, factor in factors.items() if factor), 0.0)


def descend(loss: Tensor, model: nn.Module, optimizer: optim.Optimizer, clip: float) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if clip:
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
