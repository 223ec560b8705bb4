"""Columns of text and label, guessed by name and content."""

from __future__ import annotations

import pytest

from regard.data.columns import guess_columns
from regard.errors import InputError

ROWS = [{"id": str(n), "u": "x y z " * (n + 1), "n": str(n % 2), "src": f"s{n % 3}"} for n in range(12)]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (["label", "text"], ("text", "label")),
        (["id", "Review", "Stars"], ("Review", "Stars")),
        (["title", "text", "rating", "label"], ("text", "label")),
        (["review_id", "review_body", "star_rating"], ("review_body", "star_rating")),
    ],
)
def test_well_known_names_are_found(columns: list[str], expected: tuple[str, str]) -> None:
    numbers = {"id", "review_id", "rating", "label", "Stars", "star_rating"}
    row = {column: "3" if column in numbers else "some words" for column in columns}
    assert guess_columns(columns, [row]) == expected


def test_other_names_are_guessed_by_content() -> None:
    assert guess_columns(list(ROWS[0]), ROWS) == ("u", "n")


def test_a_column_of_numbers_is_not_text() -> None:
    assert guess_columns(["review", "words"], [{"review": "17", "words": "good one"}])[0] == "words"


def test_a_column_of_lists_is_not_a_label() -> None:
    rows = [{"text": "good one", "token_label": [0, 1], "kind": n % 2} for n in range(6)]
    assert guess_columns(["text", "token_label", "kind"], rows) == ("text", "kind")


def test_by_name_only_leaves_unnamed_labels_alone() -> None:
    assert guess_columns(list(ROWS[0]), ROWS, by_name_only=True) == ("u", None)


def test_no_label_is_guessed_without_repeated_values() -> None:
    rows = [{"text": "good one", "id": str(n)} for n in range(9)]
    assert guess_columns(["text", "id"], rows) == ("text", None)


def test_a_table_without_text_is_refused() -> None:
    with pytest.raises(InputError, match="no column contains text"):
        guess_columns(["a", "b"], [{"a": "1", "b": 2}])
