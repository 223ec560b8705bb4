"""Texts of Arrow columns: the same words, and the same errors, as those of Python strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data.arrow_texts import column_texts, is_text_column
from regard.data.examples import make_example
from regard.data.formats import Row
from regard.data.packing import pack
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.errors import InputError

pa = pytest.importorskip("pyarrow")
TOKENIZER = Tokenizer(Vocabulary(("good", "film", "<", "br", "straße", "don't", "好")))


def usable(text: str | None, number: int) -> str | InputError:
    try:
        return make_example(Row(number, None, {"text": text}), "a.parquet", "text", None, labelled=False).text
    except InputError as error:
        return error


def check(texts: list[str | None], column: Any, lowercase: bool = True) -> None:
    checked = [usable(text, 7 + number) for number, text in enumerate(texts)]
    expected = pack(["" if isinstance(text, InputError) else text for text in checked], lowercase)
    read = column_texts(column, "a.parquet", "text", 7, lowercase)
    assert read.errors == {number: str(error) for number, error in enumerate(checked) if isinstance(error, InputError)}
    units = [TOKENIZER.encode_packed(packed) for packed in (expected, read.packed)]
    for one, other in zip(*units, strict=True):
        np.testing.assert_array_equal(one, other)


TEXTS = st.lists(
    st.none() | st.text() | st.sampled_from(["Good film", "<br>x", "\0", "", " ", "STRASSE straße 好", "a" * 10_001])
)


@given(TEXTS, st.booleans())
def test_words_and_errors_are_those_of_strings(texts: list[str | None], lowercase: bool) -> None:
    check(texts, pa.array(texts, pa.string()), lowercase)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_every_string_type_is_read(kind: Any) -> None:
    texts = ["Good film", None, "schöner Film", "", "good"]
    assert is_text_column(kind)
    check(texts, pa.array(texts, pa.string()).cast(kind))
    check([], pa.array([], pa.string()).cast(kind))


def test_a_part_of_a_column_is_read_from_where_it_begins() -> None:
    texts = ["one", "Good film", "é film", None, "good"]
    whole = pa.array(texts)
    check(texts[1:4], whole[1:4])
    check(texts[1:2], whole[1:2])
    check([*texts, *texts], pa.chunked_array([whole, whole]))


def test_bytes_that_are_not_utf8_are_an_error_of_their_row() -> None:
    bad = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.array([0, 4, 8], pa.int32()).buffers()[1], pa.py_buffer(b"ab\xff\xfegood")]
    )
    read = column_texts(bad, "a.parquet", "text", 1, True)
    assert list(read.errors) == [0]
    assert "row 1, column 'text': expected valid Unicode" in read.errors[0]
    assert read.is_bad.tolist() == [True, False]


def test_other_columns_are_not_texts() -> None:
    assert not any(
        map(is_text_column, (pa.int64(), pa.list_(pa.string()), pa.binary(), pa.dictionary(pa.int8(), pa.int64())))
    )


def test_the_column_itself_stays_as_it_is() -> None:
    column = pa.array(["GOOD Film", "Ok"])
    TOKENIZER.encode_packed(column_texts(column, "a", "text", 1, True).packed)
    assert column.to_pylist() == ["GOOD Film", "Ok"]
