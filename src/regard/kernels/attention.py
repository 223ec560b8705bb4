"""Attention over units whose score and polarity are known: Sun & Lu's model as it answers.

    α = softmax(a),   logits = Σ_j α_j s_j + b       a_j: a unit's attention score, s_j: its polarity, one a class

Both belong to a unit whatever the text, so a text costs one exponential and C products a unit, and its weights nothing.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

compiled = numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "arcp", "nsz"}, error_model="numpy")


@compiled
def attend(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    scores: NDArray[np.float32],
    polarity: NDArray[np.float32],
    bias: NDArray[np.float32],
    logits: NDArray[np.float32],
    weights: NDArray[np.float32],
) -> None:
    """(units,), (texts + 1,), (U,), (U, C), (C,) into logits (texts, C) and weights (units,), or none of length 0."""
    wanted = len(weights) > 0
    longest = 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    own = np.empty(longest, dtype=scores.dtype)
    for text in range(len(offsets) - 1):
        low, length = offsets[text], offsets[text + 1] - offsets[text]
        for c in range(len(bias)):
            logits[text, c] = 0
        if length > 0:
            highest = scores[ids[low]]
            for j in range(1, length):
                highest = max(highest, scores[ids[low + j]])
            total = scores.dtype.type(0)
            for j in range(length):
                own[j] = np.exp(scores[ids[low + j]] - highest)
                total += own[j]
            share = 1 / total
            for j in range(length):
                for c in range(len(bias)):
                    logits[text, c] += own[j] * polarity[ids[low + j], c]
            for c in range(len(bias)):
                logits[text, c] *= share
            if wanted:
                for j in range(length):
                    weights[low + j] = own[j] * share
        for c in range(len(bias)):
            logits[text, c] += bias[c]
