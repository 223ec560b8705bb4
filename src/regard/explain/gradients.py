"""Scores from gradients with respect to the word vectors.

    gradient                 ‖∂f/∂e_i‖ (Simonyan et al. 2014), unsigned
    gradient_times_input     e_i · ∂f/∂e_i (Shrikumar et al. 2016)
    two_point_gradients      e_i · (∂f/∂e_i (e) + ∂f/∂e_i (e/2)) / 2: between the one above and the one below
    integrated_gradients     e_i · ∫₀¹ ∂f/∂e_i (t e) dt (Sundararajan et al. 2017)

f is the target's logit, or the prediction of a regression. The first two are gradients at the text itself: one forward and
one backward pass. The last follows the straight line from zero vectors (as for padding) in place of all words to the text;
the integral is computed by Gauss–Legendre quadrature. Its scores should sum to f(text) − f(start); the error is reported with
them. The third, our own, takes two points of that line, and its scores sum to nothing; docs/explanations.md compares it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.explain.reading import Ints, Reading, batches, to_words
from regard.explain.targets import explained, settled
from regard.explain.word_scores import WordScores
from regard.models.trained import Trained

if TYPE_CHECKING:
    from torch import Tensor

    from regard.values import Batch

Doubles = NDArray[np.float64]
ROWS = 256  # points, of all texts together, per pass
PADDED_WORDS = 1 << 15  # their words including padding, at most
# points on the path from zero vectors (0) to the text (1), and their weights
AT_TEXT = {1.0: 1.0}
TWO_POINTS = {1.0: 0.5, 0.5: 0.5}


def gradient(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    return from_gradients(trained, readings, targets, lambda slope, embedded: slope.norm(dim=-1))


def gradient_times_input(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    return from_gradients(trained, readings, targets, lambda slope, embedded: (slope * embedded).sum(-1))


def two_point_gradients(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    return from_gradients(trained, readings, targets, lambda slope, embedded: (slope * embedded).sum(-1), TWO_POINTS)


def from_gradients(
    trained: Trained,
    readings: Sequence[Reading],
    targets: Ints,
    measure: Callable[[Tensor, Tensor], Tensor],
    points: Mapping[float, float] = AT_TEXT,
) -> list[WordScores]:
    """`points` on the path, among them the text, and their weights in the mean gradient."""
    by_row: dict[int, WordScores] = {}
    for rows, batch in batches(trained, readings):
        embedded = vectors(trained, batch)
        slope, logits, chosen = slopes(trained, batch, embedded, targets[rows])
        slope = points[1.0] * slope
        for point in points.keys() - {1.0}:
            slope += points[point] * slopes(trained, batch, point * embedded, chosen)[0]
        scores = measure(slope, embedded).double().cpu().numpy()
        mask = batch.mask.cpu().numpy()
        for index, row in enumerate(rows):
            words = to_words(readings[row], scores[index][mask[index]])
            by_row[row] = WordScores(words, logits[index], int(chosen[index]), len(points), len(points))
    return [by_row[row] for row in range(len(readings))]


def integrated_gradients(
    trained: Trained, readings: Sequence[Reading], targets: Ints, *, steps: int = 20
) -> list[WordScores]:
    """`facts`: steps, convergence (the sum of the scores minus what it should be), start and value (f there and at the text)."""
    import torch

    if not isinstance(steps, int) or steps < 1:
        raise InputError(f"steps: expected a whole number above 0, got {steps!r}")
    by_row: dict[int, WordScores] = {}
    for rows, batch in batches(trained, readings):
        embedded = vectors(trained, batch)
        with torch.inference_mode():
            at_text = trained.model(batch, embedded).logits.double().cpu().numpy()
            at_start = trained.model(batch, torch.zeros_like(embedded)).logits.double().cpu().numpy()
        chosen = settled(trained.task, at_text, targets[rows])
        total = (integral(trained, batch, embedded, chosen, steps) * embedded).sum(-1).double().cpu().numpy()
        value, start = explained(trained.task, at_text, chosen), explained(trained.task, at_start, chosen)
        mask = batch.mask.cpu().numpy()
        for index, row in enumerate(rows):
            units = total[index][mask[index]]
            error = float(units.sum() - (value[index] - start[index]))
            facts = {
                "steps": steps,
                "convergence": error,
                "start": float(start[index]),
                "value": float(value[index]),
            }
            scores = to_words(readings[row], units)
            by_row[row] = WordScores(scores, at_text[index], int(chosen[index]), steps + 2, steps, facts)
    return [by_row[row] for row in range(len(readings))]


def integral(trained: Trained, batch: Batch, embedded: Tensor, targets: Ints, steps: int) -> Tensor:
    """∫₀¹ ∂f/∂e (t e) dt, shaped like the vectors. As many points at a time as fit a batch."""
    import torch

    nodes, weights = np.polynomial.legendre.leggauss(steps)
    points, shares = ((nodes + 1) / 2).tolist(), (weights / 2).tolist()
    at_once = max(1, min(ROWS // len(embedded), PADDED_WORDS // batch.ids.numel()))
    total = torch.zeros_like(embedded)
    for low in range(0, steps, at_once):
        here = points[low : low + at_once]
        repeated = batch._replace(ids=torch.cat([batch.ids] * len(here)), mask=torch.cat([batch.mask] * len(here)))
        slope, _, _ = slopes(trained, repeated, torch.cat([embedded * t for t in here]), np.tile(targets, len(here)))
        for share, part in zip(shares[low:], slope.chunk(len(here)), strict=False):
            total += share * part
    return total


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
