"""Guesses: columns by name and content, the task by the labels."""

from __future__ import annotations

import pytest

from regard.data.guess import guess_columns, guess_task
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


def test_a_name_whose_values_are_numbers_is_no_text() -> None:
    assert guess_columns(["review", "words"], [{"review": "17", "words": "good one"}])[0] == "words"


def test_a_name_whose_values_are_lists_is_no_label() -> None:
    rows = [{"text": "good one", "token_label": [0, 1], "kind": n % 2} for n in range(6)]
    assert guess_columns(["text", "token_label", "kind"], rows) == ("text", "kind")


def test_by_name_only_leaves_unnamed_labels_alone() -> None:
    assert guess_columns(list(ROWS[0]), ROWS, by_name_only=True) == ("u", None)


def test_no_label_is_guessed_where_nothing_repeats() -> None:
    rows = [{"text": "good one", "id": str(n)} for n in range(9)]
    assert guess_columns(["text", "id"], rows) == ("text", None)


def test_a_table_without_text_is_refused() -> None:
    with pytest.raises(InputError, match="no column holds text"):
        guess_columns(["a", "b"], [{"a": "1", "b": 2}])


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (["0", "1", "0"], "binary"),
        (["good", "bad"], "binary"),
        (["1", "2", "3", "4", "5"], "multiclass"),
        (["1.0", "2.0", "3.0"], "multiclass"),
        (["0.5", "1", "2"], "regression"),
        ([str(n) for n in range(21)], "regression"),
        ([f"c{n % 30}" for n in range(300)], "multiclass"),
        (["1_0", "2", "3"], "multiclass"),
    ],
)
def test_the_task_follows_from_the_labels(labels: list[str], task: str) -> None:
    guessed, reason = guess_task(set(labels), len(labels))
    assert guessed == task
    assert "--task" in reason


@pytest.mark.parametrize(
    ("labels", "message"),
    [(["a", "a"], "every label is 'a'"), ([f"id{n}" for n in range(40)], "do not look like a label column")],
)
def test_labels_that_cannot_be_learnt_are_refused(labels: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        guess_task(set(labels), len(labels))


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        (["1", "1,5", "2"], "; '1,5' counts as a name, for numbers are written with a decimal point here"),
        (["0,5", "1,5"], "; '0,5' counts as a name"),
        (["1.5", "2.5", "3", "N/A"], "; all but 'N/A' are numbers"),
        (["1.5", "N/A", "none"], "overrides)"),
        (["1, 2", "a", "b"], "overrides)"),
        (["1", "2"], "overrides)"),
    ],
)
def test_what_keeps_labels_from_being_numbers_is_told(labels: list[str], told: str) -> None:
    task, reason = guess_task(labels, 90)
    assert task != "regression"
    assert told in reason
    assert reason.endswith(")") == (told == "overrides)")


def test_what_keeps_many_labels_from_being_numbers_is_told() -> None:
    with pytest.raises(InputError, match=r"do not look like a label column; .*'0,5' counts as a name"):
        guess_task([f"{n},5" for n in range(40)], 40)


def test_a_file_of_words_and_numbers_alike_is_left_alone() -> None:
    assert guess_task(["spam", "3"], 9)[1].endswith("overrides)")
