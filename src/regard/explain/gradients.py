"""Scores from gradients with respect to the word vectors, at the text itself: one forward and one backward pass.

    gradient                 ‖∂f/∂e_i‖ (Simonyan et al. 2014), unsigned
    gradient_times_input     e_i · ∂f/∂e_i (Shrikumar et al. 2016)

f is the target's logit, or the prediction of a regression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.explain.reading import Ints, Reading, batches, to_words
from regard.explain.targets import explained, settled
from regard.explain.word_scores import WordScores
from regard.models.trained import Trained

if TYPE_CHECKING:
    from torch import Tensor

    from regard.values import Batch

Doubles = NDArray[np.float64]


def gradient(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    return from_gradients(trained, readings, targets, lambda slope, embedded: slope.norm(dim=-1))


def gradient_times_input(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    return from_gradients(trained, readings, targets, lambda slope, embedded: (slope * embedded).sum(-1))


def from_gradients(
    trained: Trained, readings: Sequence[Reading], targets: Ints, measure: Callable[[Tensor, Tensor], Tensor]
) -> list[WordScores]:
    by_row: dict[int, WordScores] = {}
    for rows, batch in batches(trained, readings):
        embedded = vectors(trained, batch)
        slope, logits, chosen = slopes(trained, batch, embedded, targets[rows])
        scores = measure(slope, embedded).double().cpu().numpy()
        mask = batch.mask.cpu().numpy()
        for index, row in enumerate(rows):
            words = to_words(readings[row], scores[index][mask[index]])
            by_row[row] = WordScores(words, logits[index], int(chosen[index]), forward=1, backward=1)
    return [by_row[row] for row in range(len(readings))]


def vectors(trained: Trained, batch: Batch) -> Tensor:
    """(B, …, W, E)"""
    import torch

    with torch.no_grad():
        embedded: Tensor = trained.model.embedding(batch.ids)
    return embedded


def slopes(trained: Trained, batch: Batch, embedded: Tensor, targets: Ints) -> tuple[Tensor, Doubles, Ints]:
    """∂f/∂e at these vectors, shaped like them; the logits there (B, C), and the targets, with the predicted class where
    none was named."""
    import torch

    # cuDNN refuses the backward pass of an RNN in evaluation mode
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        leaf = embedded.detach().requires_grad_()
        logits = trained.model(batch, leaf).logits  # (B, C)
        values = logits.detach().double().cpu().numpy()
        chosen = settled(trained.task, values, targets)
        value = explained(trained.task, logits, torch.from_numpy(chosen).to(logits.device))  # (B,)
        (slope,) = torch.autograd.grad(value.sum(), leaf, materialize_grads=True)
    return slope, values, chosen
