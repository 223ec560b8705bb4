"""Labelled texts as bags of units: input for models without word order, for training and analysis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed
from regard.data.wordpieces import AnyTokenizer
from regard.kernels.units import distinct


class UnitTexts(NamedTuple):
    """Texts as distinct units with counts, concatenated, and their encoded labels."""

    ids: NDArray[np.int32]
    counts: NDArray[np.uint16]
    offsets: NDArray[np.int64]  # (texts + 1,)
    labels: NDArray[Any]  # (texts,), or (texts, labels) for several labels per text, as a task encodes them
    weights: NDArray[np.float32] | None = (
        None  # (texts,) of the losses, 1 on average over the training texts; None: all 1
    )

    @classmethod
    def of(cls, tokenizer: AnyTokenizer, texts: Sequence[str], labels: NDArray[Any]) -> Self:
        units = tokenizer.encode_all(texts)
        return cls(*distinct(units.ids, units.offsets, len(tokenizer)), labels)

    @classmethod
    def of_indexed(cls, texts: Sequence[Indexed], units: int, labels: NDArray[Any]) -> Self:
        """The same from encoded texts, ignoring sentences and parts."""
        offsets = np.zeros(len(texts) + 1, dtype=np.int64)
        np.cumsum([len(text.ids) for text in texts], out=offsets[1:])
        ids = np.concatenate([np.empty(0, dtype=np.int32), *(text.ids for text in texts)])
        return cls(*distinct(ids, offsets, units), labels)
