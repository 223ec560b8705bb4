"""Uniform weights, and other seeds (Wiegreffe & Pinter 2019, §3.1 and §3.2).

uniform weights   the same model with a very large λ, so that attention is uniform: if it is as good, the task does not need
                  attention, and nothing that attention shows can be needed for the prediction
other seeds       the same model from other seeds: how much attention differs (JSD over a text's words) if only the seed
                  does; an adversary's attention that differs no more is nothing unusual
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.audit.intervals import finite, mean_interval, paired_difference, series
from regard.audit.retraining import EVEN, Audited, Retraining
from regard.explain.attribute import attribute
from regard.facts.audit import DivergenceByText, OtherSeeds, UniformWeights
from regard.faithfulness.agreement import share_distances
from regard.models.trained import Trained

Doubles = NDArray[np.float64]
SEEDS = 3  # besides the first


def uniform_weights(audited: Audited, retraining: Retraining, first: Trained) -> UniformWeights:
    uniform = retraining.fit(audited.recorder, "uniform weights", scale=EVEN)
    with_attention, without = retraining.right(first), retraining.right(uniform)
    return UniformWeights(
        retraining.facts(),
        attention=mean_interval(with_attention, audited.seed),
        even=mean_interval(without, audited.seed),
        difference=paired_difference(with_attention, without, audited.seed),
    )


def other_seeds(audited: Audited, retraining: Retraining, first: Trained) -> OtherSeeds:
    """Each other seed against the first, on the audited texts."""
    reference = attention_of(first, audited.texts)
    divergences, right = [], [retraining.right(first)]
    for number in range(1, SEEDS + 1):
        seed = retraining.config.training.seed + number
        other = retraining.fit(audited.recorder, f"seed {number} of {SEEDS} others", seed=seed)
        right.append(retraining.right(other))
        divergences.append(share_distances(reference, attention_of(other, audited.texts))[0])
    mean = np.mean(divergences, axis=0)  # (texts,)
    return OtherSeeds(
        retraining.facts(),
        seeds=SEEDS,
        divergence=mean_interval(mean, audited.seed),
        by_seed=tuple(mean_interval(one, audited.seed) for one in divergences),
        accuracy=tuple(finite(float(one.mean())) for one in right),
        by_text=DivergenceByText(series(mean)),
    )


def attention_of(trained: Trained, texts: Sequence[str]) -> list[Doubles]:
    return [one.scores for one in attribute(trained, texts, "attention")]
