"""Inference of Sun & Lu's model: attention over units with precomputed scores and polarities.

    α = softmax(a),   logits = Σ_m Σ_j α_mj s_mj + b       a_mj: score of a unit in member m, s_mj: its polarity per class

Neither depends on the text, so a text costs one exponential and C products per unit and member, and the weights come for free.
Most models have one member; in a committee, the polarities of each member are already divided by the number of members.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.prefetching import AHEAD, prefetch

compiled = compiling.compiled(fastmath={"reassoc", "contract", "arcp", "nsz"}, error_model="numpy")


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
    """(units,), (texts + 1,), (U, M), (U, M, C), (C,) -> logits (texts, C) and weights (units,), written in place.

    A weight is the mean over the members. Weights are not computed if their array is empty.
    """
    want_weights = len(weights) > 0
    members = scores.shape[1]
    longest = 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    exponentials = np.empty(longest, dtype=scores.dtype)
    sums = np.empty(len(bias), dtype=scores.dtype)
    for text in range(len(offsets) - 1):
        low, length = offsets[text], offsets[text + 1] - offsets[text]
        for c in range(len(bias)):
            logits[text, c] = 0
        for m in range(members if length > 0 else 0):
            highest = scores[ids[low], m]
            for j in range(1, length):
                highest = max(highest, scores[ids[low + j], m])
            total = scores.dtype.type(0)
            for j in range(length):
                exponentials[j] = np.exp(scores[ids[low + j], m] - highest)
                total += exponentials[j]
            inverse = 1 / total
            for c in range(len(bias)):
                sums[c] = 0
            for j in range(length):
                for c in range(len(bias)):
                    sums[c] += exponentials[j] * polarity[ids[low + j], m, c]
            for c in range(len(bias)):
                logits[text, c] += sums[c] * inverse
            if want_weights:
                for j in range(length):
                    share = exponentials[j] * inverse / members
                    weights[low + j] = share if m == 0 else weights[low + j] + share
        for c in range(len(bias)):
            logits[text, c] += bias[c]


@compiled
def attend_vectors(
    ids: NDArray[np.int32],
    counts: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    table: NDArray[np.float32],
    query: NDArray[np.float32],
    scale: float,
    head: NDArray[np.float32],
    bias: NDArray[np.float32],
    logits: NDArray[np.float32],
    scores: NDArray[np.float32],
) -> None:
    """The same of one member from the vectors of units, without tables: for few texts, which read a part of all units.

    `counts`: how often a unit occurs in its text. Writes logits (texts, C) and the score of each unit (units,) in place.
    """
    factor = table.dtype.type(1 / scale)
    width, longest = table.shape[1], 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    exponentials = np.empty(longest, dtype=table.dtype)
    vector = np.empty(width, dtype=table.dtype)
    for text in range(len(offsets) - 1):
        low, length = offsets[text], offsets[text + 1] - offsets[text]
        highest = -np.inf
        for j in range(length):
            if j + AHEAD < length:
                prefetch(table, ids[low + j + AHEAD])
            row = table[ids[low + j]]
            total = table.dtype.type(0)
            for k in range(width):
                total += row[k] * query[k]
            scores[low + j] = total * factor
            exponentials[j] = scores[low + j] + (np.log(float(counts[low + j])) if counts[low + j] > 1 else 0.0)
            highest = max(highest, exponentials[j])
        for k in range(width):
            vector[k] = 0
        total = table.dtype.type(0)
        for j in range(length):
            weight = np.exp(exponentials[j] - table.dtype.type(highest))
            total += weight
            row = table[ids[low + j]]
            for k in range(width):
                vector[k] += weight * row[k]
        inverse = 1 / total if length > 0 else table.dtype.type(0)
        for c in range(len(bias)):
            logit = table.dtype.type(0)
            for k in range(width):
                logit += head[c, k] * vector[k]
            logits[text, c] = logit * inverse + bias[c]


@compiled
def add_shares(
    first: NDArray[np.int32],
    last: NDArray[np.int32],
    offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    bounds: NDArray[np.int64],
    words: NDArray[np.float64],
) -> None:
    """Add the weights of units to the words that they cover, half of a pair's to each of its two. bounds: (texts + 1,)."""
    for text in range(len(offsets) - 1):
        low = bounds[text]
        for j in range(offsets[text], offsets[text + 1]):
            words[low + first[j]] += weights[j] / 2 if last[j] > first[j] else weights[j]
        for j in range(offsets[text], offsets[text + 1]):
            if last[j] > first[j]:
                words[low + last[j]] += weights[j] / 2
