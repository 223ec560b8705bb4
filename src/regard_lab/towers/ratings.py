"""Reviews with a user, an item and a rating, and the reviews that may be read to predict a rating.

Those are the other reviews by the same user and the other reviews of the same item. The review of the rating itself is never
among them, nor is another review by the same user of the same item, because its words would reveal the rating. Only training
reviews are read, for all splits.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from regard.data.examples import make_example
from regard.data.formats import Row
from regard.data.read_options import ReadOptions
from regard.data.readers import Stream, stream
from regard.errors import InputError
from regard.records import Example

ADVICE = "correct the row, or leave it out"


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
        return iter(opened(path, ReadOptions("text", name, labelled, at_least=1, advice=ADVICE)))

    columns = zip(column("rating", True), column("user", False), column("item", False), strict=True)
    return [
        Rating(
            label_text(who), label_text(what), value(example, f"{path}, row {example.row}"), example.text, example.row
        )
        for example, who, what in columns
    ]


def read_pairs(path: str | Path) -> list[Rating]:
    """Every pair of a file with the columns user and item, and perhaps rating, for which a rating is wanted.

    A user or an item may be missing, and is then unknown; the value of a missing rating is NaN. Texts are not read.
    """
    options = ReadOptions("item", labelled=False, mark_bad_rows=True, at_least=0, keep=("user", "item", "rating"))
    try:
        rows = opened(path, options)
    except InputError:
        rows = opened(path, replace(options, keep=options.keep[:2]))
    pairs = []
    for example in rows:
        fields = example.kept or {}
        if fields.get("user") is None and fields.get("item") is None:  # nothing was read
            raise InputError(example.error or f"{path}, row {example.row}: expected a user or an item, got neither")
        user, item, rating = (as_label(fields.get(name)) for name in ("user", "item", "rating"))
        number = math.nan if rating.label is None else value(rating, f"{path}, row {example.row}")
        pairs.append(Rating(label_text(user), label_text(item), number, "", example.row))
    return pairs


def opened(path: str | Path, options: ReadOptions) -> Stream:
    """The names of columns are fixed, so an error mentions no option that chooses others."""
    try:
        return stream(path, options)
    except InputError as error:
        sentence = re.sub(r" \(--(text|label|keep)\)", "", str(error))
        raise InputError(sentence.replace("at least 0 rows", "at least one row")) from None


def as_label(field: object) -> Example:
    """A field with the rules of labels: 7, 7.0 and "7" are the same name."""
    return make_example(Row(0, None, {"text": "-a", "label": field}), "", "text", "label", labelled=False)


def label_text(example: Example) -> str | None:
    return None if example.label is None else str(example.label)


def value(example: Example, where: str) -> float:
    try:
        rating = math.nan if example.label is None or isinstance(example.label, tuple) else float(example.label)
    except ValueError:
        rating = math.nan
    if not math.isfinite(rating):
        raise InputError(f"{where}, column 'rating': expected a finite number, got {example.label!r}")
    return rating


Side = Literal["both", "user", "item"]
Names = tuple[str | None, str | None]  # of a user and of an item
GROUPS = ("both", "user", "item", "neither")  # who has reviews in a context


class ReviewContext(NamedTuple):
    """What may be known for a rating: indices of reviews, empty if the user or the item has no others, and the names."""

    user: tuple[int, ...]
    item: tuple[int, ...]
    names: Names = (None, None)  # None also for a side that is left out

    @property
    def group(self) -> str:
        """Who has reviews to read."""
        return {(True, True): "both", (True, False): "user", (False, True): "item"}.get(
            (bool(self.user), bool(self.item)), "neither"
        )


class ReviewIndex:
    """The reviews that may be read, by user and by item."""

    def __init__(self, ratings: Sequence[Rating]) -> None:
        self.ratings = ratings
        self.by_user: dict[str, list[int]] = {}
        self.by_item: dict[str, list[int]] = {}
        for index, rating in enumerate(ratings):
            if rating.user is not None:
                self.by_user.setdefault(rating.user, []).append(index)
            if rating.item is not None:
                self.by_item.setdefault(rating.item, []).append(index)

    def context(self, rating: Rating, most: int | None = None, side: Side = "both") -> ReviewContext:
        """The reviews that may be read to predict a rating: the first `most` per side, none of a side that is left out."""

        def first(indices: Iterable[int]) -> tuple[int, ...]:
            return tuple(index for index in indices if not reveals(self.ratings[index], rating))[:most]

        names = (rating.user if side != "item" else None, rating.item if side != "user" else None)
        users = () if names[0] is None else self.by_user.get(names[0], ())
        items = () if names[1] is None else self.by_item.get(names[1], ())
        return ReviewContext(first(users), first(items), names)


def reveals(review: Rating, rating: Rating) -> bool:
    """Whether a review is that of the rating, or another one by the same user of the same item."""
    named = rating.user is not None and rating.item is not None
    return review == rating or (named and (review.user, review.item) == (rating.user, rating.item))


def coverage(contexts: Iterable[ReviewContext]) -> dict[str, int]:
    """How many contexts have reviews of both, of the user only, of the item only, of neither."""
    counts = Counter(context.group for context in contexts)
    return {group: counts[group] for group in GROUPS}
