"""Which of many texts, given as UTF-8 bytes side by side, need a closer look before their words are found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling

NOT_ASCII, UNUSUAL = 1, 2  # bits


@compiling.compiled()
def inspect(data: NDArray[np.uint8], offsets: NDArray[np.int64], longest: int) -> NDArray[np.uint8]:
    """(texts,) NOT_ASCII: not all is ASCII; UNUSUAL: begins with no letter or digit, has a NUL, or is longer than `longest`."""
    flags = np.zeros(len(offsets) - 1, dtype=np.uint8)
    for text in range(len(flags)):
        start, stop = offsets[text], offsets[text + 1]
        if stop == start:
            flags[text] = UNUSUAL
            continue
        union, zeros = np.uint8(0), 0
        for position in range(start, stop):
            byte = data[np.uint64(position)]
            union |= byte
            zeros += byte == 0
        first = data[np.uint64(start)]
        letter = 97 <= (first | 32) <= 122
        usual = (letter or 48 <= first <= 57) and zeros == 0 and stop - start <= longest
        flags[text] = (NOT_ASCII if union >= 128 else 0) | (0 if usual else UNUSUAL)
    return flags
