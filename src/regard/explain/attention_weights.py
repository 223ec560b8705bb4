"""Scores that the poolings give by themselves: their weights, in one pass.

At every level a word (a sentence, a part) has a weight; down the levels they are multiplied, so that a word's is its share
in the whole text.

    attention        α; where a pooling has none (average, max, last …), the weight that it draws
    attention_norm   what is drawn: for APLN α^p renormalised, p the level's norm; for all others the same as attention
    weighted_norm    α ‖h‖: the length of what a state adds to the sum (Kobayashi et al. 2020), multiplied down the levels
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from regard.explain.found import Found
from regard.explain.reading import Ints, Reading, batches, to_words
from regard.explain.targets import settled
from regard.models.trained import Trained

if TYPE_CHECKING:
    from torch import Tensor

    from regard.models.classifier import Level
    from regard.values import Trace

Doubles = NDArray[np.float64]


def attention(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[Found]:
    return weighed(trained, readings, targets, plain)


def attention_norm(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[Found]:
    return weighed(trained, readings, targets, lambda _, trace: trace.pooled.weights)


def weighted_norm(trained: Trained, readings: Sequence[Reading], targets: Ints) -> list[Found]:
    return weighed(trained, readings, targets, lambda level, trace: plain(level, trace) * trace.states.norm(dim=-1))


def plain(level: Level, trace: Trace) -> Tensor:
    """The weights before a norm sharpens them.  (…, L)"""
    return level.pooling.attention(trace.pooled, trace.mask)


def weighed(
    trained: Trained, readings: Sequence[Reading], targets: Ints, weigh: Callable[[Level, Trace], Tensor]
) -> list[Found]:
    import torch

    found: dict[int, Found] = {}
    own = cast("Sequence[Level]", trained.model.levels)
    for rows, batch in batches(trained, readings):
        with torch.inference_mode():
            output = trained.model(batch)
            levels = [weigh(level, trace).double() for level, trace in zip(own, output.traces, strict=True)]
        whole = [values.cpu().numpy() for values in down(levels)]
        logits, mask = output.logits.double().cpu().numpy(), batch.mask.cpu().numpy()
        chosen = settled(trained.task, logits, targets[rows])
        for place, row in enumerate(rows):
            words, *above = real([values[place] for values in whole], mask[place])
            scores = to_words(readings[row], words)
            found[row] = Found(scores, logits[place], int(chosen[place]), forward=1, above=tuple(above))
    return [found[row] for row in range(len(readings))]


def down(levels: Sequence[Tensor]) -> list[Tensor]:
    """The product from the top to each level, words first."""
    whole = [levels[-1]]
    for values in reversed(levels[:-1]):
        whole.insert(0, whole[0].unsqueeze(-1) * values)
    return whole


def real(values: Sequence[NDArray[np.float64]], mask: NDArray[np.bool_]) -> list[Doubles]:
    """Of one text, without padding, in reading order at each level."""
    found = []
    for level in values:
        found.append(level[mask])
        mask = np.asarray(mask.any(-1))
    return found
