"""Labelled texts of any number: the texts of a large file are in a temporary file, and only labels and row numbers in memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from regard.data.labels import Labels
from regard.data.spilling_array import SpillingArray
from regard.records import Example, Label

BLOCK = 1 << 20  # bytes of texts that are stored together


class StoredExamples(Sequence[Example]):
    """Examples without evidence and other columns. Parts of them share the texts, which are stored once."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self._content = SpillingArray(np.uint8)
        self._labels: list[Label | None] = []  # distinct ones; a text has the index of its label
        sizes, codes, rows, weights = array("I"), array("i"), array("I"), array("d")
        numbers: dict[tuple[type, Label | None], int] = {}  # with the type, because 1 == 1.0 == True
        block = bytearray()
        for example in examples:
            text = example.text.encode("utf-8", "surrogatepass")
            block += text
            sizes.append(len(text))
            code = numbers.setdefault((type(example.label), example.label), len(numbers))
            if code == len(self._labels):
                self._labels.append(example.label)
            codes.append(code)
            rows.append(example.row)
            if weights or example.weight != 1:
                weights.extend([1.0] * (len(codes) - 1 - len(weights)))  # of the texts before the first other one
                weights.append(example.weight)
            if len(block) >= BLOCK:
                self._content.append(np.frombuffer(block, dtype=np.uint8))
                block = bytearray()
        self._content.append(np.frombuffer(block, dtype=np.uint8))
        self._sizes, self._codes, self._rows = np.array(sizes), np.array(codes), np.array(rows)
        self._starts = np.cumsum(self._sizes, dtype=np.int64) - self._sizes
        self._weights = np.array(weights) if weights else None  # None: all 1

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> StoredExamples: ...
    def __getitem__(self, index: int | slice) -> Example | StoredExamples:
        if isinstance(index, slice):
            return self.take(index)
        start, size = int(self._starts[index]), int(self._sizes[index])
        text = self._content.read(start, start + size).tobytes().decode("utf-8", "surrogatepass")
        weight = 1.0 if self._weights is None else float(self._weights[index])
        return Example(text, self._labels[self._codes[index]], int(self._rows[index]), weight=weight)

    def take(self, rows: slice | NDArray[Any]) -> Self:
        """Some of the examples, by index or by a mask."""
        part = copy(self)
        part._starts, part._sizes = self._starts[rows], self._sizes[rows]
        part._codes, part._rows = self._codes[rows], self._rows[rows]
        part._weights = None if self._weights is None else self._weights[rows]
        return part

    def weighted(self, weights: NDArray[np.float32] | None) -> Self:
        """The same examples, which count otherwise; None: 1 each."""
        part = copy(self)
        part._weights = None if weights is None else weights.astype(np.float64)
        return part

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """How much each text counts; None if all count 1."""
        return None if self._weights is None or (self._weights == 1).all() else self._weights

    @property
    def labels(self) -> Labels:
        """Computed without reading a text."""
        pairs = zip(self._codes.tolist(), self._rows.tolist(), strict=True)
        return Labels.of(Example("", self._labels[code], row) for code, row in pairs)
