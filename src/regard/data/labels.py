"""The labels of many texts, each different one kept once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Self

import numpy as np
from numpy.typing import NDArray

from regard.records import Example


class Labels:
    """`names` in the order of their first coming; a code, the place of its name, for every text."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}  # name -> the first row that has it, for an error
        self._codes: dict[str, int] = {}
        self._texts = array("i")

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Self:
        labels = cls()
        for example in examples:
            labels.add(example)
        return labels

    def add(self, example: Example) -> None:
        name = str(example.label)
        code = self._codes.get(name)
        if code is None:
            code = self._codes[name] = len(self._codes)
            self.rows[name] = example.row
        self._texts.append(code)

    @property
    def names(self) -> list[str]:
        return list(self.rows)

    @property
    def codes(self) -> NDArray[np.int32]:
        return np.array(self._texts, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._texts)
