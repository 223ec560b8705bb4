"""Labels of many texts: each distinct one once, a code per text, and the row that an error names."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.data.labels import Labels, written_twice
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


def test_labels_that_mean_the_same_number_or_name_are_found() -> None:
    assert written_twice(["1", "1.0", "2"]) == ["1", "1.0"]
    assert written_twice(["spam", "Spam", "ham"]) == ["Spam", "spam"]
    assert written_twice(["100000", "1e5"]) == ["100000", "1e5"]


def test_long_ids_that_are_equal_as_floats_are_different_labels() -> None:
    assert written_twice([str(10**18), str(10**18 + 1)]) == []
