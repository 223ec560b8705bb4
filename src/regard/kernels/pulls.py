"""How strongly texts pull at the scores of their units: one pass over the texts, in float64.

g is the text's −∂ℓ/∂s, α are the attention weights of units with their counts, s = Σ α s_j without the head's bias.

    π_e += α g,    ρ_e += α (s_e − s)ᵀg       for every unit e of every text
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.sparse_steps import Ids, Int64s, loss_and_gradient

compiled = compiling.compiled(error_model="numpy")
Doubles = NDArray[np.float64]


@compiled
def pull(
    ids: Ids,
    counts: NDArray[np.uint16],
    offsets: Int64s,
    labels: NDArray[Any],
    scores: Doubles,
    polarity: Doubles,
    bias: Doubles,
    kind: int,
    pi: Doubles,
    rho: Doubles,
) -> float:
    """Add to `pi` (U, K) and `rho` (U,); return the sum of the losses. A text without units adds nothing to either."""
    outputs, loss = len(bias), 0.0
    logits, g = np.empty(outputs), np.empty(outputs)
    weights = np.empty(np.max(offsets[1:] - offsets[:-1]) if len(offsets) > 1 else 0)
    for text in range(len(offsets) - 1):
        low, high = offsets[text], offsets[text + 1]
        highest, total = -np.inf, 0.0
        for index in range(low, high):
            highest = max(highest, scores[ids[index]])
        for index in range(low, high):
            weights[index - low] = counts[index] * np.exp(scores[ids[index]] - highest)
            total += weights[index - low]
        for k in range(outputs):
            logits[k] = 0.0
        for index in range(low, high):
            weights[index - low] /= total
            for k in range(outputs):
                logits[k] += weights[index - low] * polarity[ids[index], k]
        for k in range(outputs):
            g[k] = logits[k] + bias[k]
        loss += loss_and_gradient(g, labels[text : text + 1], kind)  # leaves ∂ℓ/∂s in g
        for index in range(low, high):
            unit, alpha = ids[index], weights[index - low]
            for k in range(outputs):
                pi[unit, k] -= alpha * g[k]
                rho[unit] -= alpha * (polarity[unit, k] - logits[k]) * g[k]
    return loss
