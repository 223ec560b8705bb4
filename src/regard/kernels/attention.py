"""Inference of Sun & Lu's model: attention over units with precomputed scores and polarities.

    α = softmax(a),   logits = Σ_j α_j s_j + b       a_j: attention score of a unit, s_j: its polarity per class

Neither depends on the text, so a text costs one exponential and C products per unit, and the weights come for free.
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
    """(units,), (texts + 1,), (U,), (U, C), (C,) -> logits (texts, C) and weights (units,), written in place.

    Weights are not computed if their array is empty.
    """
    want_weights = len(weights) > 0
    longest = 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    exponentials = np.empty(longest, dtype=scores.dtype)
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
                exponentials[j] = np.exp(scores[ids[low + j]] - highest)
                total += exponentials[j]
            inverse = 1 / total
            for j in range(length):
                for c in range(len(bias)):
                    logits[text, c] += exponentials[j] * polarity[ids[low + j], c]
            for c in range(len(bias)):
                logits[text, c] *= inverse
            if want_weights:
                for j in range(length):
                    weights[low + j] = exponentials[j] * inverse
        for c in range(len(bias)):
            logits[text, c] += bias[c]
