"""One training step with PyTorch (forward, loss, backward, clip, optimiser), and the mean loss of an epoch so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn, optim

from regard.config import Training
from regard.models.classifier import Classifier
from regard.models.tasks import Task
from regard.models.trained import to_device
from regard.process_group import ALONE, ProcessGroup
from regard.training.schedule import Phase, ordinary
from regard.training.state_cache import StateCache
from regard.values import Batch

SHOWN_EVERY = 10  # steps between two readings of the loss: each makes the CPU wait for the GPU


@dataclass(frozen=True)
class Step:
    """A training step of one model. With a `cache`, the ids of batches are rows of its table instead of words."""

    model: Classifier
    task: Task
    config: Training
    optimizer: optim.Optimizer
    phase: Phase | None = None  # None: ordinary training
    cache: StateCache | None = None
    group: ProcessGroup = ALONE

    @property
    def device(self) -> torch.device:
        return self.model.embedding.weight.device

    @property
    def levels(self) -> int:
        return len(self.model.levels) if self.cache is None else 1

    def __call__(self, batch: Batch, share: float = 1.0) -> Tensor:
        """Train on a batch, which may be on any device. Returns the mean loss of its texts, ().

        `share`: by how much this mean counts in that of the whole batch, of which other processes have the rest.
        """
        batch = to_device(batch, self.device)
        assert batch.labels is not None
        phase = self.phase or ordinary(self.config)
        states = None if self.cache is None else self.cache.look_up(batch.ids)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.bf16):
            output = self.model(batch, head=phase.head, states=states)
        loss = self.task.loss(output.logits, batch.labels, batch.weights)
        total = loss + penalty(output.terms, phase.terms)
        update_weights(total if share == 1 else share * total, self.model, self.optimizer, self.config.clip, self.group)
        return loss.detach()


def penalty(terms: Mapping[str, Tensor], factors: Mapping[str, float]) -> Tensor | float:
    """The sum of the terms, each times its factor."""
    return sum((factor * terms[name] for name, factor in factors.items() if factor), 0.0)


def update_weights(
    loss: Tensor, model: nn.Module, optimizer: optim.Optimizer, clip: float, group: ProcessGroup = ALONE
) -> None:
    """Backpropagate, clip the gradient unless `clip` is 0, and take a step of the optimiser."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    group.add_gradients(model)
    if clip:
        nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()


class RunningLoss:
    """The mean loss per text of an epoch so far, in all processes. `shape` is () for one model, (S,) for several."""

    def __init__(
        self, steps: int, device: torch.device, shape: tuple[int, ...] = (), group: ProcessGroup = ALONE
    ) -> None:
        self.steps, self.step, self.seen, self.group = steps, 0, 0.0, group
        self.total = torch.zeros(shape, device=device)

    def add(self, loss: Tensor, texts: float) -> Tensor | None:
        """Add the mean loss of a step. Returns the mean so far if it is time to show it."""
        self.step, self.seen = self.step + 1, self.seen + texts
        self.total = self.total + loss * texts  # not in place: the loss may be memory of a CUDA graph
        return self.mean if self.step % SHOWN_EVERY == 0 or self.step == self.steps else None

    @property
    def mean(self) -> Tensor:
        if not self.group.is_joined:
            return self.total / self.seen
        both = self.group.add(torch.stack((self.total, torch.full_like(self.total, self.seen))))
        return both[0] / both[1]
