"""Reviews with a user, an item and a rating, and what is known when a user meets an item.

Known are the other reviews by that user and the other reviews of that item. The review that is to be rated is never among
them, nor is another one by the same user of the same item: its words would give the rating away. Only training reviews are
known, whatever is to be rated.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

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


Side = Literal["both", "user", "item"]
GROUPS = ("both", "user", "item", "neither")  # who has reviews in a meeting


class ReviewContext(NamedTuple):
    """Places of reviews among the known ones, in their order; none where the user or the item is unknown."""

    user: tuple[int, ...]
    item: tuple[int, ...]

    @property
    def group(self) -> str:
        """Of whom there is something to read."""
        return {(True, True): "both", (True, False): "user", (False, True): "item"}.get(
            (bool(self.user), bool(self.item)), "neither"
        )


class ReviewIndex:
    """The reviews that may be read, found by user and by item."""

    def __init__(self, ratings: Sequence[Rating]) -> None:
        self.ratings = ratings
        self.by_user: dict[str, list[int]] = {}
        self.by_item: dict[str, list[int]] = {}
        for place, rating in enumerate(ratings):
            if rating.user is not None:
                self.by_user.setdefault(rating.user, []).append(place)
            if rating.item is not None:
                self.by_item.setdefault(rating.item, []).append(place)

    def meeting(self, rating: Rating, most: int | None = None, side: Side = "both") -> ReviewContext:
        """What may be read to guess a rating: the first `most` reviews of each side. Of a side left out, nothing."""

        def first(places: Iterable[int]) -> tuple[int, ...]:
            return tuple(place for place in places if not tells(self.ratings[place], rating))[:most]

        users = self.by_user.get(rating.user, ()) if rating.user is not None and side != "item" else ()
        items = self.by_item.get(rating.item, ()) if rating.item is not None and side != "user" else ()
        return ReviewContext(first(users), first(items))


def tells(known: Rating, rating: Rating) -> bool:
    """Whether a known review is the one that is to be rated, or the same user's of the same item."""
    named = rating.user is not None and rating.item is not None
    return known == rating or (named and (known.user, known.item) == (rating.user, rating.item))


def coverage(meetings: Iterable[ReviewContext]) -> dict[str, int]:
    """How many have something to read of both, of the user only, of the item only, of neither."""
    counts = Counter(meeting.group for meeting in meetings)
    return {group: counts[group] for group in GROUPS}
