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
    """(entries,), (entries,), (rows + 1,), (columns, C) -> (rows, C)

    Four columns at a time, so that their sums stay in registers.
    """
    rows, width = len(offsets) - 1, table.shape[1]
    result = np.empty((rows, width))
    for row in range(rows):
        first = 0
        while first + 4 <= width:
            a = b = c = d = 0.0
            for j in range(offsets[row], offsets[row + 1]):
                value, column = values[j], np.uint64(ids[j])
                a += value * table[column, first]
                b += value * table[column, first + 1]
                c += value * table[column, first + 2]
                d += value * table[column, first + 3]
            result[row, first], result[row, first + 1], result[row, first + 2], result[row, first + 3] = a, b, c, d
            first += 4
        for k in range(first, width):
            a = 0.0
            for j in range(offsets[row], offsets[row + 1]):
                a += values[j] * table[np.uint64(ids[j]), k]
            result[row, k] = a
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
        first = 0
        while first + 4 <= width:
            a, b, c, d = table[row, first], table[row, first + 1], table[row, first + 2], table[row, first + 3]
            for j in range(offsets[row], offsets[row + 1]):
                value, column = values[j], np.uint64(ids[j])
                result[column, first] += value * a
                result[column, first + 1] += value * b
                result[column, first + 2] += value * c
                result[column, first + 3] += value * d
            first += 4
        for k in range(first, width):
            a = table[row, k]
            for j in range(offsets[row], offsets[row + 1]):
                result[np.uint64(ids[j]), k] += values[j] * a
    return result
