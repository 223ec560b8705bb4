"""Labels of many texts: each distinct one once, a code per text, the row that an error names, and the guessed task."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.labels import Labels, guess_task
from regard.errors import InputError
from regard.records import Example


def labels_of(*values: str | float) -> Labels:
    return Labels.of(Example("text", value, row) for row, value in enumerate(values, 11))


@given(st.lists(st.sampled_from(["a", "b", "1", "1.0", "", "好"])))
def test_codes_are_indices_of_names(values: list[str]) -> None:
    labels = labels_of(*values)
    assert [labels.names[code] for code in labels.codes] == values
    assert labels.names == list(dict.fromkeys(values))
    assert len(labels) == len(values)
    assert labels.codes.dtype == np.int32


def test_the_first_row_of_a_name_is_known() -> None:
    assert labels_of("b", "a", "b", "c", "a").rows == {"b": 11, "a": 12, "c": 14}


def test_numbers_and_their_strings_are_the_same_label() -> None:
    assert labels_of(1, 1.0, "1", 2.5).names == ["1", "1.0", "2.5"]


def test_codes_do_not_change_when_labels_are_added() -> None:
    labels = labels_of("a", "b")
    before = labels.codes
    labels.add(Example("text", "c", 1))
    assert before.tolist() == [0, 1]
    assert labels.codes.tolist() == [0, 1, 2]


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
        (["1", "1,5", "2"], "; '1,5' is taken as a name, because numbers need a decimal point"),
        (["0,5", "1,5"], "; '0,5' is taken as a name"),
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
    with pytest.raises(InputError, match=r"do not look like a label column; .*'0,5' is taken as a name"):
        guess_task([f"{n},5" for n in range(40)], 40)


def test_mixed_words_and_numbers_are_not_explained() -> None:
    assert guess_task(["spam", "3"], 9)[1].endswith("overrides this)")
