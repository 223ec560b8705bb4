"""The mean loss of an epoch so far."""

from __future__ import annotations

import torch
from torch import Tensor

SHOWN_EVERY = 10  # steps between two readings of the loss: each makes a GPU wait


class Running:
    """`shape` is () for one model, (S,) for several at once."""

    def __init__(self, steps: int, device: torch.device, shape: tuple[int, ...] = ()):
        self.steps, self.step, self.seen = steps, 0, 0
        self.total = torch.zeros(shape, device=device)

    def add(self, loss: Tensor, texts: int) -> Tensor | None:
        """Take a step's mean loss in; the mean so far, where it is time to show it."""
        self.step, self.seen = self.step + 1, self.seen + texts
        self.total = self.total + loss * texts  # not in place: the loss may be a graph's own memory
        return self.mean if self.step % SHOWN_EVERY == 0 or self.step == self.steps else None

    @property
    def mean(self) -> Tensor:
        return self.total / self.seen
