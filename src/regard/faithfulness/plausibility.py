"""Explanations against words that are known, or were marked, to decide the label."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from regard.records import Explanation, Span


def plausibility(explanations: Sequence[Explanation], evidence: Sequence[Sequence[Span]]) -> dict[str, float]:
    """Means over the texts that have evidence: the weight on it, and how often the heaviest words are among it.

    `random` is what weights that know nothing get: the share of words that are evidence, the same for both measures.
    """
    weight, first, chance = [], [], []
    for explanation, spans in zip(explanations, evidence, strict=True):
        marked = np.array([covered(token.start, token.end, spans) for token in explanation.tokens], dtype=bool)
        if not marked.any():
            continue
        weights = np.array([token.weight for token in explanation.tokens])
        weight.append(weights[marked].sum())
        first.append(marked[np.argsort(-weights, kind="stable")[: marked.sum()]].mean())
        chance.append(marked.mean())
    if not weight:
        return {"texts": 0}
    means = [float(np.mean(values)) for values in (weight, first, chance)]
    return {
        "texts": len(weight),
        **dict(zip(("weight_on_evidence", "precision_at_evidence", "random"), means, strict=True)),
    }


def covered(start: int, end: int, spans: Sequence[Span]) -> bool:
    return any(low < end and start < high for low, high in spans)
