"""The labels of many texts, stored as codes, and labels that are numbers."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from regard.records import Example

Task = Literal["binary", "multiclass", "multilabel", "regression"]
_COMMA = re.compile(r"[+-]?\d*,\d+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


class Labels:
    """Distinct label `names` in order of first occurrence, and per text the `code` of its name.

    Of texts with several labels, each distinct set has a name, and `sets` has its labels.
    """

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}  # name -> the first row that has it, for error messages
        self.sets: dict[str, tuple[str, ...]] = {}  # empty unless texts have several labels
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
            if isinstance(example.label, tuple):
                self.sets[name] = example.label
        self._texts.append(code)

    def declare(self, names: Iterable[str]) -> None:
        """Add names that may have no text."""
        for name in names:
            self._codes.setdefault(name, len(self._codes))
            self.rows.setdefault(name, 0)

    @property
    def names(self) -> list[str]:
        return list(self.rows)

    @property
    def single_names(self) -> list[str]:
        """The distinct labels, also those in sets."""
        single = (self.sets.get(name, (name,)) for name in self.rows)
        return list(dict.fromkeys(label for labels in single for label in labels))

    @property
    def codes(self) -> NDArray[np.int32]:
        return np.array(self._texts, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._texts)


def is_number(text: str) -> bool:
    """Whether it is written as a finite number; Python's 1_000 does not count."""
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def comma_number(text: str) -> float | None:
    """The value of a number that may have a decimal comma, such as 3,5; None if it is not one."""
    if is_number(text):
        return float(text)
    return float(text.replace(",", ".")) if _COMMA.fullmatch(text) else None


def separates_thousands(names: Iterable[str]) -> bool:
    """Whether every comma may separate thousands, as in 1,000, so that it cannot be read as a decimal comma."""
    commas = [name for name in names if "," in name]
    return bool(commas) and all(_THOUSANDS.fullmatch(name) for name in commas)


def natural_order(label: str) -> tuple[bool, float, str]:
    """Sort key for labels: numbers by value, then all others alphabetically."""
    return (False, float(label), label) if is_number(label) else (True, 0.0, label)


def written_twice(names: Iterable[str]) -> list[str]:
    """Names that differ from another only in case, or are the same number in other digits, such as 1 and 1.0."""
    distinct = {name: _value(name) if is_number(name) else name.casefold() for name in sorted(names, key=natural_order)}
    count = Counter(distinct.values())
    return [name for name, meant in distinct.items() if count[meant] > 1]


def _value(name: str) -> int | float:
    """A number's value; a whole one is exact, so that long ids differ which are equal as floats."""
    try:
        return int(name)
    except ValueError:
        return float(name)
