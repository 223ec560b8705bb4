"""Models of several seeds as one: the first axis of every weight is the seeds, and each operation computes all of them.

A small model leaves a large GPU idle; ten of them together take little longer than one. No operation mixes seeds: each
model has its own order of texts, weights and dropout masks, and its gradient is clipped separately.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, optim
from torch.func import functional_call, vmap
from torch.nn import functional

from regard.config import Training
from regard.models.classifier import GROUP, Classifier, group_by_length, group_levels, ids_by_group
from regard.models.tasks import LABEL
from regard.models.trained import to_device
from regard.training.schedule import Phase, ordinary
from regard.training.step import penalty
from regard.values import Batch, Output

TABLE = "embedding.weight"
Loss = Callable[[Tensor, Tensor], Tensor]  # logits (B, C), labels (B,) -> (), mean per text


class Stack:
    """The first axis of a batch is the seeds too: ids (S, B, …, W)."""

    def __init__(self, models: Sequence[Classifier], device: torch.device):
        self.model = models[0].to(device)  # its structure; the weights are in the stack
        states = [dict(model.named_parameters()) for model in models]
        self.weights = {
            name: torch.stack([state[name].detach().to(device) for state in states]).requires_grad_(
                weight.requires_grad
            )
            for name, weight in states[0].items()
        }

    def __len__(self) -> int:
        return len(self.weights[TABLE])

    @property
    def device(self) -> torch.device:
        return self.weights[TABLE].device

    def apply(self, batch: Batch, extract: Callable[[Output, Tensor | None], Any], head: str = LABEL) -> Any:
        """`extract(output, labels)` of each model, stacked."""
        widths = [[width for _, width in level] for level in batch.groups]

        def one(
            weights: Mapping[str, Tensor], embedded: Tensor, ids: Tensor, mask: Tensor, labels: Tensor | None, rows: Any
        ) -> Any:
            groups = tuple(tuple(zip(*level, strict=True)) for level in zip(rows, widths, strict=True))
            inputs = (Batch(ids, mask, labels, groups), embedded)
            return extract(functional_call(self.model, dict(weights), inputs, {"head": head}), labels)

        others = {name: weight for name, weight in self.weights.items() if name != TABLE}
        rows = [[group for group, _ in level] for level in batch.groups]
        axes = (0, 0, 0, 0, None if batch.labels is None else 0, 0)
        arguments = (
            others,
            self.embed(ids_by_group(batch) if batch.groups else batch.ids),
            batch.ids,
            batch.mask,
            batch.labels,
            rows,
        )
        return vmap(one, axes, randomness="different")(*arguments)

    def embed(self, ids: Tensor) -> Tensor:
        """Look up in the concatenated tables. The rows of padding are zero and stay so, because padding is masked."""
        table = self.weights[TABLE]
        first = torch.arange(len(table), device=ids.device).view(-1, *(1,) * (ids.ndim - 1)) * table.size(1)
        return functional.embedding(ids + first, table.flatten(0, 1))

    def state(self, seed: int) -> dict[str, Tensor]:
        """The weights of one model."""
        return {name: weight[seed].detach().clone() for name, weight in self.weights.items()}

    def load(self, seed: int, state: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for name, weight in state.items():
                self.weights[name][seed] = weight


@dataclass(frozen=True)
class StackedStep:
    """One training step of all models. Returns the loss of each."""

    stack: Stack
    loss: Loss
    config: Training
    optimizer: optim.Optimizer
    phase: Phase | None = None  # None: ordinary training

    @property
    def device(self) -> torch.device:
        return self.stack.device

    @property
    def levels(self) -> int:
        return len(self.stack.model.levels)

    def __call__(self, batch: Batch) -> Tensor:
        """(S, B, …) -> (S,)"""
        phase = self.phase or ordinary(self.config)
        batch = batch if batch.groups else grouped(batch, self.levels)

        def extract(output: Output, labels: Tensor | None) -> tuple[Tensor, Tensor]:
            assert labels is not None
            loss = self.loss(output.logits, labels)
            return loss, loss + penalty(output.terms, phase.terms)

        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.config.bf16):
            losses, penalised = self.stack.apply(to_device(batch, self.device), extract, phase.head)
        self.optimizer.zero_grad(set_to_none=True)
        penalised.sum().backward()
        if self.config.clip:
            clip(list(self.stack.weights.values()), self.config.clip)
        self.optimizer.step()
        result: Tensor = losses.detach()
        return result


def clip(weights: Sequence[Tensor], max_norm: float) -> None:
    """`clip_grad_norm_` for each seed separately."""
    gradients = [weight.grad for weight in weights if weight.grad is not None]
    by_weight = [torch.linalg.vector_norm(gradient.view(len(gradient), -1), dim=1) for gradient in gradients]
    norms = torch.linalg.vector_norm(torch.stack(by_weight), dim=0)  # (S,)
    factors = (max_norm / (norms + 1e-6)).clamp(max=1)
    for gradient in gradients:
        gradient.mul_(factors.view(-1, *(1,) * (gradient.ndim - 1)))


def grouped(batch: Batch, levels: int) -> Batch:
    """Add the groups of rows that each level below the top reads together, before the batch is copied to a GPU."""
    return group_levels(batch, levels, lambda lengths: group_by_length(lengths, GROUP["cuda"]))


def masks_of(mask: Tensor, levels: int) -> list[Tensor]:
    """The mask of each level, words first."""
    masks = [mask]
    while len(masks) < levels:
        masks.append(masks[-1].any(-1))
    return masks
