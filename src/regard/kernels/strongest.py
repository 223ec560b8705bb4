"""The strongest words of many texts: for each, the positions of its largest scores in absolute value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling

compiled = compiling.compiled()

Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


def strongest(scores: Doubles, bounds: Ints, most: int) -> tuple[Ints, Ints]:
    """Up to `most` positions in `scores` per text, strongest first, of equal ones the earlier first; and where each text's begin.

    bounds: (texts + 1,) the scores of each text.
    """
    counts = np.minimum(np.diff(bounds), most)
    starts = np.concatenate([[0], np.cumsum(counts)])
    picked = np.empty(int(starts[-1]), dtype=np.int64)
    _pick(scores, bounds, starts, picked)
    return picked, starts


@compiled
def _pick(scores: Doubles, bounds: Ints, starts: Ints, picked: Ints) -> None:
    for text in range(len(bounds) - 1):
        first, most = starts[text], starts[text + 1] - starts[text]
        held = 0
        for position in range(bounds[text], bounds[text + 1]):
            size = abs(scores[position])
            if held == most and (most == 0 or not size > abs(scores[picked[first + held - 1]])):
                continue
            place = held if held < most else held - 1  # insertion: few words are asked for
            while place > 0 and size > abs(scores[picked[first + place - 1]]):
                picked[first + place] = picked[first + place - 1]
                place -= 1
            picked[first + place] = position
            if held < most:
                held += 1
