"""Word scores from the weights of the poolings, in one pass.

At every level each word (sentence, part) has a weight. Weights are multiplied down the levels, so that a word's weight is its
share of the whole text.

    attention        α; for a pooling without attention (average, max, last …), its `Pooled.weights`
    attention_norm   `Pooled.weights`: α^p renormalised if a norm p sharpens attention (APLN), else the same
    weighted_norm    α ‖h‖: the length of a state's contribution to the sum (Kobayashi et al. 2020), multiplied down the levels

The first two come from tables, without PyTorch, if the model is flat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Units
from regard.explain.reading import Ints, Reading, batches, to_words
from regard.explain.word_scores import WordScores
from regard.kernels.attention import add_shares
from regard.models.trained import READ, Trained

if TYPE_CHECKING:
    from torch import Tensor

    from regard.models.classifier import Level
    from regard.values import Trace

Doubles = NDArray[np.float64]


def attention(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    return pooling_weights(trained, readings, targets, lambda level, trace: alpha(level, trace).double(), True)


def attention_norm(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    return pooling_weights(trained, readings, targets, lambda _, trace: trace.pooled.weights, True)


def weighted_norm(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[WordScores]:
    def lengths(level: Level, trace: Trace) -> Tensor:
        weights = alpha(level, trace)
        return (weights * trace.states.norm(dim=-1)).double()  # type: ignore[no-any-return]

    return pooling_weights(trained, readings, targets, lengths, False)


def alpha(level: Level, trace: Trace) -> Tensor:
    """The weights before a norm sharpens them.  (…, L)"""
    return level.pooling.attention(trace.pooled, trace.mask)


def pooling_weights(
    trained: Trained,
    readings: Sequence[Reading],
    targets: Ints,
    weigh: Callable[[Level, Trace], Tensor],
    are_weights: bool,
) -> list[WordScores]:
    import torch

    by_row: dict[int, WordScores] = {}
    levels = cast("Sequence[Level]", trained.model.levels)
    # without gradients a GPU has room for larger batches
    for rows, batch in batches(trained, readings, READ.get(trained.model.embedding.weight.device.type)):
        with torch.inference_mode():
            output = trained.model(batch)
            weights = [weigh(level, trace) for level, trace in zip(levels, output.traces, strict=True)]
        products = [values.double().cpu().numpy() for values in down(weights)]
        logits, mask = output.logits.double().cpu().numpy(), batch.mask.cpu().numpy()
        for index, row in enumerate(rows):
            units, *above = without_padding([values[index] for values in products], mask[index])
            scores = to_words(readings[row], units)
            by_row[row] = WordScores(
                scores, logits[index], int(targets[row]), 1, above=tuple(above), are_weights=are_weights
            )
    return [by_row[row] for row in range(len(readings))]


def down(levels: Sequence[Tensor]) -> list[Tensor]:
    """The product from the top to each level, words first."""
    products = [levels[-1]]
    for values in reversed(levels[:-1]):
        products.insert(0, products[0].unsqueeze(-1) * values)
    return products


def without_padding(values: Sequence[NDArray[np.float64]], mask: NDArray[np.bool_]) -> list[Doubles]:
    """The values of one text, in reading order at each level."""
    real = []
    for level in values:
        real.append(level[mask])
        mask = np.asarray(mask.any(-1))
    return real


def attention_from_tables(trained: Trained, texts: Sequence[str], targets: Ints) -> list[WordScores]:
    """The attention of a flat model."""
    scores: list[WordScores] = []
    for units, logits, weights in trained.attended(texts):
        bounds = np.zeros(len(units.words) + 1, dtype=np.int64)
        units.words.cumsum(out=bounds[1:])
        words = share_out(units, weights.astype(np.float64), bounds)
        rows = targets[len(scores) : len(scores) + len(logits)].tolist()
        for row, target, (low, high) in zip(logits.astype(np.float64), rows, pairwise(bounds.tolist()), strict=True):
            scores.append(WordScores(words[low:high], row, target, 1, above=(), are_weights=True))
    return scores


def share_out(units: Units, weights: NDArray[np.float64], bounds: NDArray[np.int64]) -> NDArray[np.float64]:
    """The weight of every word of every text: the weights of its units, and half the weight of each pair it is in."""
    words = np.zeros(int(bounds[-1]))
    add_shares(units.first, units.last, units.offsets, weights, bounds, words)
    return words
