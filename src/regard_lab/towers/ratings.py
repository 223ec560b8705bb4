"""Reviews with a user, an item and a rating."""

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
    """A review; `user` or `item` is None if unknown."""

    user: str | None
    item: str | None
    value: float
    text: str
    row: int = 0  # of the file (the first data row is 1)


def read_ratings(path: str | Path) -> list[Rating]:
    """Every review of a file with the columns user, item, rating and text.

    User and item may be missing (they are then None, not one shared user); a rating is required.
    """

    def column(name: str, labelled: bool) -> Iterator[Example]:
        """A column read as if it were the label, with all the checks of labels."""
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
        rating = float(example.label if example.label is not None else math.nan)
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating):
        raise InputError(
            f"{where}, column 'rating': {example.label!r} is found; a finite number is accepted as a rating"
        )
    return rating
