"""How often each unit stands in the texts of each class: one pass over texts of different units with counts."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

compiled = numba.njit(cache=True, nogil=True)


def class_counts(
    ids: NDArray[np.int32],
    counts: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    classes: NDArray[np.int64],
    units: int,
    outputs: int,
) -> NDArray[np.int64]:
    """`classes` has a text's number each; (units, outputs)."""
    found = np.zeros((outputs, units), dtype=np.int32)  # half the memory to jump about in
    _count(ids, counts, offsets, classes, found)
    return found.astype(np.int64).T  # a class's numbers side by side: what compares classes goes over them as a whole


@compiled
def _count(
    ids: NDArray[np.int32],
    counts: NDArray[np.uint16],
    offsets: NDArray[np.int64],
    classes: NDArray[np.int64],
    found: NDArray[np.int32],
) -> None:
    for text in range(len(offsets) - 1):
        for at in range(offsets[text], offsets[text + 1]):
            found[classes[text], ids[at]] += counts[at]
