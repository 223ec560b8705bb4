"""Permuted weights (Jain & Wallace 2019, §4.2.1): how much the prediction changes when the weights are permuted.

For each text the median, over seeded permutations, of the total variation distance between the predictions, with the
largest weight: the prediction for a text with one heavy word should change. Also what uniform weights do, and
how far the weights are from uniform, which limits what any permutation can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.audit.given_weights import Mixture, distances, given_weights, probabilities
from regard.audit.intervals import finite, mean_interval, series
from regard.explain.reading import Reading
from regard.facts.audit import Permutation, PermutationByText, WeightGroup
from regard.faithfulness.random_choice import random_rankings
from regard.models.trained import Trained

Doubles = NDArray[np.float64]
DRAWS = 100
EDGES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the largest weight: the four groups of the paper


class Permuted(NamedTuple):
    """Per text; NaN if there is only one position, which nothing can change."""

    moved: Doubles  # the median distance of the predictions
    largest: Doubles  # the largest weight
    evened: Doubles  # the distance of the prediction with uniform weights
    uneven: Doubles  # the total variation distance of the weights from uniform


def permuted(trained: Trained, readings: Sequence[Reading], seed: int = 0, draws: int = DRAWS) -> Permuted:
    results = Permuted(*(np.full(len(readings), np.nan) for _ in Permuted._fields))
    for mixture in given_weights(trained, readings):
        texts = [readings[row].text for row in mixture.rows]
        for name, values in permute(trained, mixture, texts, seed, draws)._asdict().items():
            getattr(results, name)[mixture.rows] = values
    return results


def permute(trained: Trained, mixture: Mixture, texts: Sequence[str], seed: int, draws: int) -> Permuted:
    import torch

    attention, mask = mixture.weights.cpu().numpy(), mixture.mask.cpu().numpy()
    lengths = mask.sum(1)
    permuted_weights = np.zeros((draws, *attention.shape))
    for row, (text, length) in enumerate(zip(texts, lengths.tolist(), strict=True)):
        orders = random_rankings(text, length, draws, seed)  # (draws, length)
        permuted_weights[:, row, :length] = attention[row, orders]
    even = mask / np.maximum(lengths, 1)[:, None]
    with torch.no_grad():
        before = probabilities(trained.task, mixture.logits)
        answers, evened = (
            distances(
                probabilities(trained.task, mixture.answer(torch.from_numpy(weights).to(mixture.weights))), before
            )
            for weights in (permuted_weights, even)
        )
    values = (
        np.median(answers.cpu().numpy(), axis=0),
        attention.max(1),
        evened.cpu().numpy(),
        np.abs(attention - even).sum(1) / 2,
    )
    return Permuted(*(np.where(lengths > 1, value, np.nan) for value in values))


def permutation_facts(values: Permuted, seed: int) -> Permutation:
    group = np.digitize(values.largest, EDGES[1:-1])
    known = ~np.isnan(values.moved)
    by_largest = []
    for number, (low, high) in enumerate(pairwise(EDGES)):
        rows = known & (group == number)
        moved = finite(values.moved[rows].mean()) if rows.any() else None
        by_largest.append(WeightGroup(low, high, int(rows.sum()), moved))
    return Permutation(
        draws=DRAWS,
        moved=mean_interval(values.moved, seed),
        largest=mean_interval(values.largest, seed),
        evened=mean_interval(values.evened, seed),
        uneven=mean_interval(values.uneven, seed),
        by_largest=tuple(by_largest),
        by_text=PermutationByText(series(values.moved), series(values.largest)),
    )
