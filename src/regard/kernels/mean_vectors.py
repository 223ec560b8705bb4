"""The mean vector of the words of each text, without a copy of the vectors per occurrence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling

compiled = compiling.compiled()


@compiled
def mean_vectors(
    ids: NDArray[np.int32],
    counts: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    table: NDArray[np.float32],
    has_vector: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """(units,), (units,), (texts + 1,), (words, D), (words,) -> (texts, D); zeros for a text without such a word

    Units whose id is beyond the table, and words without a vector, are left out.
    """
    texts, width = len(offsets) - 1, table.shape[1]
    means = np.zeros((texts, width))
    for text in range(texts):
        mean, total = means[text], 0.0
        for j in range(offsets[text], offsets[text + 1]):
            if ids[j] < len(table) and has_vector[ids[j]]:
                row, count = table[ids[j]], float(counts[j])
                total += count
                for k in range(width):
                    mean[k] += count * row[k]
        if total > 0:
            for k in range(width):
                mean[k] /= total
    return means
