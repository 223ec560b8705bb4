"""Gradients as in Jain & Wallace (2019, Algorithm 1): of the prediction by each word's presence, with the weights held fixed.

    |e_i · ∂f/∂e_i|      with r = Σ α_i h_i, where α is constant and only the states depend on the words

It shows the effect of a word through the states; the explainer `gradient_times_input` also includes the weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.explain.gradients import vectors
from regard.explain.reading import Reading, batches, to_words
from regard.explain.targets import PREDICTED, explained, settled
from regard.models.trained import Trained

Doubles = NDArray[np.float64]


def held_gradients(trained: Trained, readings: Sequence[Reading]) -> list[Doubles]:
    """By text, (words,). The highest level must be plain attention."""
    import torch

    from regard.masking import weighted_sum

    gradients: list[Doubles] = [np.empty(0)] * len(readings)
    for rows, batch in batches(trained, readings):
        # cuDNN refuses the backward pass of an RNN in eval mode
        with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
            leaf = vectors(trained, batch).requires_grad_()
            trace = trained.model(batch, leaf).traces[-1]
            logits = trained.model.head(weighted_sum(trace.pooled.weights.detach(), trace.states))
            chosen = settled(trained.task, logits.detach().double().cpu().numpy(), np.full(len(rows), PREDICTED))
            value = explained(trained.task, logits, torch.from_numpy(chosen).to(logits.device))
            (slope,) = torch.autograd.grad(value.sum(), leaf, materialize_grads=True)
        scores = (slope * leaf.detach()).sum(-1).abs().double().cpu().numpy()
        mask = batch.mask.cpu().numpy()
        for index, row in enumerate(rows):
            gradients[row] = to_words(readings[row], scores[index][mask[index]])
    return gradients
