"""Which reviews may be read to predict a rating: others, never the rated review itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from regard.errors import InputError
from regard_lab.towers.ratings import Rating, ReviewContext, ReviewIndex, coverage, read_ratings

ANN_CUP = Rating("ann", "cup", 4, "a fine cup", 1)
ANN_HAT = Rating("ann", "hat", 2, "a poor hat", 2)
BOB_CUP = Rating("bob", "cup", 5, "the best cup", 3)
ANN_CUP_AGAIN = Rating("ann", "cup", 5, "still a fine cup", 4)
NOBODY_CUP = Rating(None, "cup", 1, "broken", 5)
NOBODY_HAT = Rating(None, "hat", 3, "so so", 6)
KNOWN = ReviewIndex([ANN_CUP, ANN_HAT, BOB_CUP, ANN_CUP_AGAIN, NOBODY_CUP, NOBODY_HAT])


@pytest.mark.parametrize(
    ("rating", "user", "item", "group"),
    [
        (ANN_CUP, (1,), (2, 4), "both"),  # neither itself nor Ann's other review of the cup
        (ANN_HAT, (0, 3), (5,), "both"),
        (BOB_CUP, (), (0, 3, 4), "item"),
        (NOBODY_CUP, (), (0, 2, 3), "item"),  # those without a name are not one person
        (Rating("ann", "pen", 3, "new"), (0, 1, 3), (), "user"),
        (Rating("eve", "pen", 3, "new"), (), (), "neither"),
        (Rating(None, None, 3, "new"), (), (), "neither"),
    ],
)
def test_the_others_are_read(rating: Rating, user: tuple[int, ...], item: tuple[int, ...], group: str) -> None:
    context = KNOWN.context(rating)
    assert context == ReviewContext(user, item, (rating.user, rating.item))
    assert context.group == group


def test_a_rated_review_stays_out_whatever_its_words_and_rating() -> None:
    for index, rating in enumerate(KNOWN.ratings):
        if rating.user is not None:
            for other in (replace(rating, text="other words"), replace(rating, value=1.5), replace(rating, row=99)):
                context = KNOWN.context(other)
                assert index not in context.user + context.item
                assert context == KNOWN.context(rating)


def test_the_number_of_reviews_is_limited_and_a_side_can_be_left_out() -> None:
    assert KNOWN.context(BOB_CUP, most=2) == ReviewContext((), (0, 3), ("bob", "cup"))
    assert KNOWN.context(ANN_HAT, most=1) == ReviewContext((0,), (5,), ("ann", "hat"))
    assert KNOWN.context(ANN_HAT, side="user") == ReviewContext((0, 3), (), ("ann", None))
    assert KNOWN.context(ANN_HAT, side="item") == ReviewContext((), (5,), (None, "hat"))


def test_coverage_counts_every_group() -> None:
    contexts = [KNOWN.context(rating) for rating in (ANN_CUP, ANN_HAT, BOB_CUP, Rating("eve", "pen", 1, ""))]
    assert coverage(contexts) == {"both": 2, "user": 0, "item": 1, "neither": 1}


def test_ratings_are_read_with_their_names(tmp_path: Path) -> None:
    rows = [
        {"user": 7, "item": "B01", "rating": 2.0, "text": "a fine cup"},
        {"user": None, "item": "B01", "rating": 4.5, "text": "a poor hat"},
    ]
    path = tmp_path / "reviews.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_ratings(path) == [
        Rating("7", "B01", 2.0, "a fine cup", 1),
        Rating(None, "B01", 4.5, "a poor hat", 2),
    ]


@pytest.mark.parametrize(
    ("rating", "message"), [("good", "expected a finite number, got 'good'"), (None, "label is missing")]
)
def test_a_rating_that_is_not_a_number_is_an_error_with_its_row(tmp_path: Path, rating: object, message: str) -> None:
    path = tmp_path / "reviews.jsonl"
    rows = [
        {"user": "u", "item": "i", "rating": 1, "text": "one"},
        {"user": "u", "item": "i", "rating": rating, "text": "two"},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=message) as caught:
        read_ratings(path)
    assert "row 2" in str(caught.value)
    assert "'rating'" in str(caught.value)


def test_a_missing_column_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_text("user,rating,text\nu,1,one\nv,2,two\n")
    with pytest.raises(InputError, match="item"):
        read_ratings(path)
