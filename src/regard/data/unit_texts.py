"""Labelled texts as bags of units: what a model without word order learns from, and what it can be studied on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class UnitTexts(NamedTuple):
    """Texts as different units with counts, one behind the other, and their encoded labels."""

    ids: NDArray[np.int32]
    counts: NDArray[np.uint16]
    offsets: NDArray[np.int64]  # (texts + 1,)
    labels: NDArray[Any]  # (texts,) as a task encodes them
