"""How hard texts pull at the scores of their units: one pass over the texts, in float64.

(g the text's −∂ℓ/∂s, α attention weights of units with their counts, s = Σ α s_j without the head's bias.)

    π_e += α g,    ρ_e += α (s_e − s)ᵀg       for every unit e of every text
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from regard.kernels.sparse_steps import Ids, Places, error

compiled = numba.njit(cache=True, nogil=True, error_model="numpy")
Doubles = NDArray[np.float64]


@compiled
def pull(
    ids: Ids,
    counts: NDArray[np.uint16],
    offsets: Places,
    labels: NDArray[Any],
    scores: Doubles,
    polarity: Doubles,
    bias: Doubles,
    kind: int,
    pi: Doubles,
    rho: Doubles,
) -> float:
    """Adds to `pi` (U, K) and `rho` (U,); the sum of the texts' losses. A text without units pulls at nothing."""
    outputs, loss = len(bias), 0.0
    said, g = np.empty(outputs), np.empty(outputs)
    weights = np.empty(np.max(offsets[1:] - offsets[:-1]) if len(offsets) > 1 else 0)
    for text in range(len(offsets) - 1):
        low, high = offsets[text], offsets[text + 1]
        highest, total = -np.inf, 0.0
        for at in range(low, high):
            highest = max(highest, scores[ids[at]])
        for at in range(low, high):
            weights[at - low] = counts[at] * np.exp(scores[ids[at]] - highest)
            total += weights[at - low]
        for k in range(outputs):
            said[k] = 0.0
        for at in range(low, high):
            weights[at - low] /= total
            for k in range(outputs):
                said[k] += weights[at - low] * polarity[ids[at], k]
        for k in range(outputs):
            g[k] = said[k] + bias[k]
        loss += error(g, labels[text], kind)  # leaves ∂ℓ/∂s in g
        for at in range(low, high):
            unit, alpha = ids[at], weights[at - low]
            for k in range(outputs):
                pi[unit, k] -= alpha * g[k]
                rho[unit] -= alpha * (polarity[unit, k] - said[k]) * g[k]
    return loss
