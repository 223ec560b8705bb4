"""Who rated what, how, and in which words: reviews with a user and an item."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.data.read_options import ReadOptions
from regard.data.readers import stream
from regard.errors import InputError
from regard.records import Example


@dataclass(frozen=True, slots=True)
class Rating:
    """A review; `user` or `item` is None where nobody said who, or what of."""

    user: str | None
    item: str | None
    value: float
    text: str
    row: int = 0  # of the file (the first data row is 1)


def read_ratings(path: str | Path) -> list[Rating]:
    """Every review of a file of user, item, rating and text.

    A missing user or item is nobody, not a person with many names; a rating must be there.
    """

    def column(name: str, labelled: bool) -> Iterator[Example]:
        """A column read as if it were the label: with all the checks that labels get."""
        return iter(stream(path, ReadOptions("text", name, labelled, at_least=1)))

    columns = zip(column("rating", True), column("user", False), column("item", False), strict=True)
    return [
        Rating(named(who), named(what), value(example, f"{path}, row {example.row}"), example.text, example.row)
        for example, who, what in columns
    ]


def named(example: Example) -> str | None:
    return None if example.label is None else str(example.label)


def value(example: Example, where: str) -> float:
    try:
        found = float(example.label if example.label is not None else math.nan)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(
            f"{where}, column 'rating': {example.label!r} is found; a finite number is accepted as a rating"
        )
    return found
