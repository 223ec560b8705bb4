"""Adam for small models with many words: of the word vectors, only those in a batch are updated.

A flat model may have a vector for every pair of words; updating all of them for every batch would take nearly all the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn

MAX_NORM = 5.0  # that gradients are clipped to, except those of word vectors


class Adam:
    """For the trainable parameters of a module; its `embedding` gets sparse gradients."""

    def __init__(self, module: nn.Module, embedding: nn.Embedding, rate: float) -> None:
        from torch import optim

        self.rate = rate
        learnable = [weight for weight in module.parameters() if weight.requires_grad]
        self.dense = [weight for weight in learnable if weight is not embedding.weight]
        self.optimizers: list[optim.Optimizer] = [optim.Adam(self.dense, lr=rate)]
        if embedding.weight.requires_grad:
            embedding.sparse = True
            self.optimizers.append(optim.SparseAdam([embedding.weight], lr=rate))

    def step(self, loss: Tensor, factor: float = 1.0) -> None:
        """`factor` scales the learning rate."""
        from torch.nn.utils import clip_grad_norm_

        for optimizer in self.optimizers:
            optimizer.param_groups[0]["lr"] = factor * self.rate
            optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(self.dense, MAX_NORM)
        for optimizer in self.optimizers:
            optimizer.step()
