"""The labels of many texts, stored as codes, and the task that is guessed from their names."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError, quoted
from regard.records import Example

Task = Literal["binary", "multiclass", "regression"]
MOST_CLASSES = 20  # with more distinct numbers than this, the task is regression


class Labels:
    """Distinct label `names` in order of first occurrence, and per text the `code` of its name."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}  # name -> the first row that has it, for error messages
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


def guess_task(names: Iterable[str], count: int) -> tuple[Task, str]:
    """The task for `count` labels with these distinct names, and the reason, a sentence for the user."""
    distinct = sorted(names, key=natural_order)
    shown = quoted(distinct, most=6)
    if len(distinct) < 2:
        raise InputError(f"every label is {shown}; expected at least two different labels")
    numeric = all(is_number(label) for label in distinct)
    if numeric and not all(float(label).is_integer() for label in distinct):
        return (
            "regression",
            "the labels are numbers with fractions, so the task is regression (--task multiclass overrides this)",
        )
    if numeric and len(distinct) > MOST_CLASSES:
        return (
            "regression",
            f"the labels are {len(distinct)} different numbers, so the task is regression (--task multiclass overrides this)",
        )
    if len(distinct) == 2:
        return "binary", f"the labels have two values, {shown} (--task overrides this){_nearly_numbers(distinct)}"
    if len(distinct) > MOST_CLASSES and len(distinct) >= count / 2:
        raise InputError(
            f"{len(distinct)} different values in {count} rows ({shown}) do not look like a label column; "
            f"name the column with --label, or the task with --task{_nearly_numbers(distinct)}"
        )
    other = "--task regression" if numeric else "--task"
    return (
        "multiclass",
        f"the labels have {len(distinct)} values, {shown} ({other} overrides this){_nearly_numbers(distinct)}",
    )


def is_number(text: str) -> bool:
    """Whether it is written as a finite number; Python's 1_000 does not count."""
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def natural_order(label: str) -> tuple[bool, float, str]:
    """Sort key for labels: numbers by value, then all others alphabetically."""
    return (False, float(label), label) if is_number(label) else (True, 0.0, label)


def written_twice(names: Iterable[str]) -> list[str]:
    """Names that differ from another only in case, or are the same number in other digits, such as 1 and 1.0."""
    distinct = {name: float(name) if is_number(name) else name.casefold() for name in sorted(names, key=natural_order)}
    count = Counter(distinct.values())
    return [name for name, meant in distinct.items() if count[meant] > 1]


def _nearly_numbers(labels: Sequence[str]) -> str:
    """Why they are not numbers, if they nearly are: decimal commas, or a few words among many numbers."""
    words = [label for label in labels if not is_number(label)]
    if words and all(is_number(label.replace(",", ".", 1)) for label in words):
        return f"; {words[0]!r} is taken as a name, because numbers need a decimal point"
    if 0 < len(words) < len(labels) / 2:
        return f"; all but {quoted(words, most=3)} are numbers"
    return ""
