"""Even weights, and other seeds (Wiegreffe & Pinter 2019, §3.1 and §3.2).

even weights   the same model with attention that cannot but be even, λ being very large: if it is as good, the task
               has no use for attention, and nothing that attention shows there can be needed for the answer
seeds          the same model from other seeds: how far apart attention lies (JSD over a text's words) when nothing
               but chance is different; adversaries' attention that lies no farther is nothing unusual
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.audit.lessons import EVEN, Lesson
from regard.audit.numbers import finite, series, told_difference, told_mean
from regard.explain.attribute import attribute
from regard.faithfulness.agreement import share_distances
from regard.models.trained import Trained
from regard.recording import Recorder

Doubles = NDArray[np.float64]
SEEDS = 3  # beside the first


def even_weights(lesson: Lesson, first: Trained, recorder: Recorder, seed: int) -> dict[str, Any]:
    even = lesson.fit(recorder, "weights held even", scale=EVEN)
    own, its = lesson.right(first), lesson.right(even)
    return {
        **lesson.facts(),
        "attention": told_mean(own, seed),
        "even": told_mean(its, seed),
        "difference": told_difference(own, its, seed),
    }


def other_seeds(lesson: Lesson, first: Trained, texts: Sequence[str], recorder: Recorder, seed: int) -> dict[str, Any]:
    """Each other seed against the first, on the texts audited."""
    own = attention_of(first, texts)
    apart, right = [], [lesson.right(first)]
    for number in range(1, SEEDS + 1):
        other = lesson.fit(recorder, f"seed {number} of {SEEDS} others", seed=lesson.config.training.seed + number)
        right.append(lesson.right(other))
        apart.append(share_distances(own, attention_of(other, texts))[0])
    mean = np.mean(apart, axis=0)  # (texts,)
    return {
        **lesson.facts(),
        "seeds": SEEDS,
        "divergence": told_mean(mean, seed),
        "by_seed": [told_mean(one, seed) for one in apart],
        "accuracy": [finite(float(one.mean())) for one in right],
        "by_text": {"divergence": series(mean)},
    }


def attention_of(trained: Trained, texts: Sequence[str]) -> list[Doubles]:
    return [one.scores for one in attribute(trained, texts, "attention")]
