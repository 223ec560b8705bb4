"""The guessed task: what the labels are, how often each occurs, and what their column is called."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from regard.data.guessed_task import guess_task
from regard.data.labels import comma_number
from regard.errors import InputError

CODES = [100 * n + 7 * (n % 3) for n in range(1, 41)]  # not consecutive, as codes of industries are
REALISTIC: list[tuple[str | None, Iterable[object], int, str]] = [
    # name of the column, its different values, texts per value, the task
    ("label", range(77), 130, "multiclass"),  # intents of a bank's customers
    ("label", range(151), 100, "multiclass"),
    ("label", [n for n in range(150) if n % 15], 100, "multiclass"),  # a sample without every class
    ("target", range(20), 500, "multiclass"),
    ("target", range(1, 21), 1, "multiclass"),
    ("category_id", range(1, 251), 8, "multiclass"),
    ("categoryId", CODES, 3, "multiclass"),
    ("industry_code", CODES, 40, "multiclass"),
    ("Class", range(30), 2, "multiclass"),
    ("topic", range(1, 31), 15, "multiclass"),
    ("label", CODES, 50, "multiclass"),
    ("price_category", range(25), 4, "multiclass"),
    ("folder", range(40), 5, "multiclass"),
    (None, range(64), 20, "multiclass"),  # an estimator gets no name
    ("column2", range(1, 65), 20, "multiclass"),
    ("column2", range(64), 3, "regression"),
    ("column2", range(18, 90), 50, "regression"),  # ages begin anywhere
    ("score", range(101), 90, "regression"),
    ("rating", range(1, 101), 90, "regression"),
    ("class_score", range(1, 101), 90, "regression"),
    ("price", range(5, 2000, 5), 12, "regression"),
    ("age", range(1, 90), 300, "regression"),
    ("helpful_votes", range(60), 40, "regression"),
    ("label", [n * n for n in range(60)], 2, "regression"),
    ("label", range(-50, 51), 1, "regression"),
    ("target", range(100_000, 900_000, 13_000), 1, "regression"),
    ("stars", range(1, 6), 100, "multiclass"),  # as long as there are few, the name does not matter
    ("stars", ["0.5", "1", "1.5", "2"], 100, "regression"),
    ("category_id", ["1.5", "2", "3"], 100, "regression"),
    ("rating", ["1.0", "2.0", "3.0", "4.0", "5.0"], 10, "multiclass"),
    ("label", [f"{n}.0" for n in range(77)], 10, "multiclass"),  # pandas writes whole numbers like this
    ("label", ["True", "False"], 10, "binary"),
    ("label", ["Spam", "spam", "ham"], 10, "multiclass"),
    ("rating", ["3,5", "4", "2,0"], 10, "regression"),
    ("rating", ["0,5", "1,5"], 10, "regression"),
    ("mark", ["1,0", "1,250", "2,5"], 10, "regression"),
]


@pytest.mark.parametrize(("column", "values", "each", "task"), REALISTIC)
def test_columns_as_people_have_them(column: str | None, values: Iterable[object], each: int, task: str) -> None:
    names = [str(value) for value in values]
    guessed, reason = guess_task(names, each * len(names), column)
    assert guessed == task, reason
    assert reason.startswith(f"task: {task}, because ")
    assert "--task" in reason


def test_the_reason_names_what_decided_and_the_option_against_it() -> None:
    many = [str(n) for n in range(77)]
    assert guess_task(many, 770, "label")[1] == (
        "task: multiclass, because column 'label' has 77 consecutive whole numbers from 0 to 76, with 10 texts each "
        "(--task regression overrides this)"
    )
    assert guess_task(many, 770, "score")[1] == (
        "task: regression, because the labels are 77 different whole numbers from 0 to 76, and column 'score' names a scale "
        "(--task multiclass overrides this)"
    )
    assert "'0,5', which is read with a decimal comma" in guess_task(["0,5", "2"], 9)[1]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3,5", 3.5),
        ("-0,25", -0.25),
        (",5", 0.5),
        ("3.5", 3.5),
        ("3", 3.0),
        ("1,2,3", None),
        ("1.000,5", None),
        ("a,5", None),
    ],
)
def test_decimal_commas(text: str, value: float | None) -> None:
    assert comma_number(text) == value


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
    ("labels", "message"),
    [
        (["1", "1,500", "2"], "; '1,500' is taken as a name, because its comma may separate thousands or decimals"),
        (["1,500", "12,000"], "; '1,500' is taken as a name"),
        (["1.5", "2.5", "3", "N/A"], "; all but 'N/A' are numbers"),
        (["1.5", "N/A", "none"], "overrides this)"),
        (["1, 2", "a", "b"], "overrides this)"),
        (["1", "2"], "overrides this)"),
    ],
)
def test_labels_that_are_nearly_numbers_are_explained(labels: list[str], message: str) -> None:
    task, reason = guess_task(labels, 90)
    assert task != "regression"
    assert message in reason
    assert reason.endswith(")") == (message == "overrides this)")


def test_many_labels_that_are_nearly_numbers_are_explained() -> None:
    with pytest.raises(InputError, match=r"do not look like a label column; .*'0,500' is taken as a name"):
        guess_task([f"{n},500" for n in range(40)], 40)


def test_mixed_words_and_numbers_are_not_explained() -> None:
    assert guess_task(["spam", "3"], 9)[1].endswith("overrides this)")
