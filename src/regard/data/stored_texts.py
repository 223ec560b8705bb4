"""Texts as ids, of any number: those of a large corpus are in a temporary file and read one by one, only their sizes in memory.

Which texts share a batch depends on their sizes, so a corpus on disk is shuffled and batched exactly as one in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from regard.data.examples import encode_examples
from regard.data.spilling_array import SpillingArray
from regard.data.tokenizer import Indexed
from regard.data.wordpieces import AnyTokenizer
from regard.records import Example

BLOCK = 1024  # texts that are encoded and stored together


class StoredTexts(Sequence[Indexed]):
    """Encoded texts without what their ids cover. A text is one run of numbers: ids, words per sentence, sentences per part."""

    def __init__(self, blocks: Iterable[Sequence[Indexed]]) -> None:
        self._numbers = SpillingArray(np.int32)
        sizes, extents = [np.empty((0, 1), dtype=np.int32)], [np.empty((0, 1), dtype=np.int32)]
        for block in blocks:
            self._numbers.append(np.concatenate([part for text in block for part in (text.ids, *text.shape)]))
            rows = [[len(text.ids), *map(len, text.shape)] for text in block]
            sizes.append(np.array(rows, dtype=np.int32))
            extents.append(np.array([extent(text) for text in block], dtype=np.int32))
        if len(sizes) > 1:  # the number of levels is known
            del sizes[0], extents[0]
        self._sizes = np.concatenate(sizes)  # (texts, levels) numbers of ids, sentences, parts
        self.extents = np.concatenate(extents)  # (texts, levels) as `extent` gives them
        self._starts = np.cumsum(self._sizes.sum(1, dtype=np.int64)) - self._sizes.sum(1, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Indexed: ...
    @overload
    def __getitem__(self, index: slice) -> StoredTexts: ...
    def __getitem__(self, index: int | slice) -> Indexed | StoredTexts:
        if isinstance(index, slice):
            return self.take(index)
        start, (words, *counts) = int(self._starts[index]), self._sizes[index].tolist()
        numbers = self._numbers.read(start, start + words + sum(counts))
        shape = []
        for count, stop in zip(counts, np.cumsum([words, *counts])[1:].tolist(), strict=True):
            shape.append(numbers[stop - count : stop].astype(np.int64))
        return Indexed(numbers[:words], tuple(shape))

    def take(self, rows: slice | NDArray[Any]) -> Self:
        """Some of the texts, which are stored once."""
        part = copy(self)
        part._starts, part._sizes, part.extents = self._starts[rows], self._sizes[rows], self.extents[rows]
        return part

    @property
    def costs(self) -> NDArray[np.int32]:
        """(texts, 2) as `cost` gives them"""
        words, tops = self._sizes[:, 0], self._sizes[:, -1] if self._sizes.shape[1] > 1 else np.int32(0)
        return np.stack(np.broadcast_arrays(tops, words), axis=1)


def store_texts(tokenizer: AnyTokenizer, examples: Sequence[Example], where: str) -> StoredTexts:
    """Encode texts; an error names the row of the text that cannot be encoded."""
    starts = range(0, len(examples), BLOCK)
    return StoredTexts(encode_examples(tokenizer, list(examples[start : start + BLOCK]), where) for start in starts)


def chosen_texts(texts: Sequence[Indexed], rows: NDArray[np.int64]) -> Sequence[Indexed]:
    return texts.take(rows) if isinstance(texts, StoredTexts) else [texts[row] for row in rows]


def cost(text: Indexed) -> tuple[int, int]:
    """Sort key of a text: the length of the axis just below the top, then the number of words."""
    return (len(text.shape[-1]) if text.shape else 0, len(text.ids))


def extent(text: Indexed) -> tuple[int, ...]:
    """The number of positions a text takes on each axis, at least one: [parts,] [sentences,] words."""
    if not text.shape:
        return (max(len(text.ids), 1),)
    return (max(len(text.shape[-1]), 1), *(int(counts.max(initial=1)) for counts in reversed(text.shape)))


def costs(texts: Sequence[Indexed]) -> NDArray[np.int32]:
    return texts.costs if isinstance(texts, StoredTexts) else np.array([cost(text) for text in texts], dtype=np.int32)


def extents(texts: Sequence[Indexed]) -> NDArray[np.int32]:
    if isinstance(texts, StoredTexts):
        return texts.extents
    return np.array([extent(text) for text in texts], dtype=np.int32)
