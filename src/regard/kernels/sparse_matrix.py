"""Products of a sparse matrix, stored row by row, with a dense one. (SciPy has them, but the base install does without it.)"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling

compiled = compiling.compiled()


@compiled
def product(
    ids: NDArray[np.int32], values: NDArray[np.float64], offsets: NDArray[np.int64], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(entries,), (entries,), (rows + 1,), (columns, C) -> (rows, C)"""
    rows, width = len(offsets) - 1, table.shape[1]
    result = np.zeros((rows, width))
    for row in range(rows):
        for j in range(offsets[row], offsets[row + 1]):
            for k in range(width):
                result[row, k] += values[j] * table[ids[j], k]
    return result


@compiled
def transposed_product(
    ids: NDArray[np.int32],
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    table: NDArray[np.float64],
    columns: int,
) -> NDArray[np.float64]:
    """(entries,), (entries,), (rows + 1,), (rows, C) -> (columns, C)"""
    width = table.shape[1]
    result = np.zeros((columns, width))
    for row in range(len(offsets) - 1):
        for j in range(offsets[row], offsets[row + 1]):
            for k in range(width):
                result[ids[j], k] += values[j] * table[row, k]
    return result
