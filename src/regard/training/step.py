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
from regard.values import Batch


@dataclass(frozen=True)
class Step:
    model: Classifier
    task: Task
    config: Training
    optimizer: optim.Optimizer

    @property
    def device(self) -> torch.device:
        return self.model.embedding.weight.device

    @property
    def levels(self) -> int:
        return len(self.model.levels)

    def __call__(self, batch: Batch) -> Tensor:
        """Learn from a batch, wherever it is; the mean loss of its texts, ()."""
        batch = to_device(batch, self.device)
        assert batch.labels is not None
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.bf16):
            output = self.model(batch)
        loss = self.task.loss(output.logits, batch.labels)
        descend(loss + penalty(output.terms, self.config), self.model, self.optimizer, self.config.clip)
        return loss.detach()


def penalty(terms: Mapping[str, Tensor], config: Training) -> Tensor | float:
    """What is added to the loss: each term by its factor."""
    factors = {"vtw": config.vtw, "vtw_mapped": config.vtw_mapped}
    return sum((factor * terms[name] for name, factor in factors.items() if factor), 0.0)


def descend(loss: Tensor, model: nn.Module, optimizer: optim.Optimizer, clip: float) -> None:
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if clip:
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
