"""Count how often each unit occurs in the texts of each class, in one pass over distinct units with counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling

compiled = compiling.compiled()


def class_counts(
    ids: NDArray[np.int32],
    counts: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    classes: NDArray[np.int64],
    units: int,
    outputs: int,
) -> NDArray[np.int64]:
    """`classes` has one class index per text.  -> (units, outputs)"""
    totals = np.zeros((outputs, units), dtype=np.int32)  # int32 halves the memory of these random accesses
    _count(ids, counts, offsets, classes, totals)
    return totals.astype(np.int64).T  # each class is contiguous, because comparisons of classes scan it as a whole


@compiled
def _count(
    ids: NDArray[np.int32],
    counts: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    classes: NDArray[np.int64],
    totals: NDArray[np.int32],
) -> None:
    for text in range(len(offsets) - 1):
        for position in range(offsets[text], offsets[text + 1]):
            totals[classes[text], ids[position]] += counts[position]
