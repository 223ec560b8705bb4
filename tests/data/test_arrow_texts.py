"""Texts of Arrow columns: the same words, and the same errors, as those of Python strings."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import arrow_texts, packing
from regard.data.arrow_texts import column_texts, is_text_column
from regard.data.examples import LONGEST_WORD, make_example
from regard.data.formats import Row
from regard.data.packing import Packed, pack
from regard.data.tokenizer import Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms
from regard.errors import InputError
from regard.kernels.scanner import find_words

pa = pytest.importorskip("pyarrow")
TOKENIZER = Tokenizer(Vocabulary(("good", "film", "<", "br", "straße", "don't", "好")))


def usable(text: str | None, number: int) -> str | InputError:
    try:
        return make_example(Row(number, None, {"text": text}), "a.parquet", "text", None, labelled=False).text
    except InputError as error:
        return error


def words_of(packed: Packed, lowercase: bool) -> list[list[bytes]]:
    """The words that the scanner finds in each text."""
    data, offsets = packed
    starts, ends, counts = find_words(data, offsets, lowercase)
    content = data.tobytes()
    words = iter([content[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)])
    return [[next(words) for _ in range(count)] for count in counts.tolist()]


def check(texts: list[str | None], column: Any, lowercase: bool = True) -> None:
    checked = [usable(text, 7 + number) for number, text in enumerate(texts)]
    expected = pack(["" if isinstance(text, InputError) else text for text in checked], lowercase)
    read = column_texts(column, "a.parquet", "text", 7, lowercase)
    assert read.errors == {number: str(error) for number, error in enumerate(checked) if isinstance(error, InputError)}
    assert words_of(read.packed, lowercase) == words_of(expected, lowercase)


TEXTS = st.lists(
    st.none()
    | st.text()
    | st.sampled_from(["Good film", "<br>x", "é <br<br>> x", "\0", "", " ", "STRASSE straße 好", "a" * 10_001])
)


@given(TEXTS, st.booleans())
def test_words_and_errors_are_those_of_strings(texts: list[str | None], lowercase: bool) -> None:
    check(texts, pa.array(texts, pa.string()), lowercase)


FRAGMENTS = st.sampled_from(
    [
        *(b"<br />", b"<BR/>", b"<br>", b"<br \t", b"<br\xc2\xa0/>", b"<br \xc3\xa9>", b"<", b"/>", b"br", b"<<br>"),
        *(b" ", b"  ", b"\n", b"\t", b"\x1c", b"\x1f", b"\x00", b"\x01", b"\x7f", b"\xc2\x85", b"\xe2\x80\x83"),
        *(b"good", b"Don't", b"x" * 40, b"www.a.b/", b"a@b.cc", b"1,000.5", b":-)", b"</3", b"'s", b'"', b"(", b"..."),
        *("é", "É", "’t", "Straße", "ΣΑΣ", "日本", "ก้ำ", "e\u0301", "👩\u200d👩", "🇩🇪", "\xad", "\ufeff"),
        "é" * 40,
        *(b"\xff", b"\xc3", b"\xa9", b"\xed\xa0\xbd", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe6\x97", b"\xf0\x9f\x91"),
    ]
)
BYTES = st.lists(st.one_of(FRAGMENTS, st.binary(max_size=4), st.characters()), max_size=8).map(
    lambda parts: b"".join(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts)
)


@given(st.lists(st.none() | BYTES, max_size=5), st.booleans())
def test_any_bytes_give_the_words_and_errors_of_strings(values: list[bytes | None], lowercase: bool) -> None:
    """Half surrogate pairs, other bytes that are not UTF-8, NUL, and line breaks beside and around other scripts."""
    texts = [None if value is None else value.decode("utf-8", "surrogateescape") for value in values]
    check(texts, pa.array(values, pa.binary()).view(pa.string()), lowercase)


@pytest.mark.parametrize("word", ["x", "é"])
@pytest.mark.parametrize("length", [LONGEST_WORD - 1, LONGEST_WORD, LONGEST_WORD + 1, LONGEST_WORD * 2])
def test_long_words_are_refused_as_in_strings(word: str, length: int) -> None:
    texts: list[str | None] = [
        word * length,
        f"good {word * length} é",
        f"é {word * length}. <br />",
        f"{word} " * length,
        f"{word}\n" * length,
    ]
    check(texts, pa.array(texts, pa.string()))


def test_only_pieces_of_other_scripts_become_strings(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def pack_piece(piece: str, lowercase: bool) -> bytes:
        seen.append(piece)
        return packing.pack_piece(piece, lowercase)

    monkeypatch.setattr(arrow_texts, "pack_piece", pack_piece)
    monkeypatch.setattr(arrow_texts, "make_example", None)
    texts: list[str | None] = ['A "naïve" film<br />é <br />good', "“Good” film", ' "quoted"', "日本 <br> 好"]
    read = column_texts(pa.array(texts, pa.string()), "a.parquet", "text", 7, True)
    assert seen == ['"naïve"', "film<br />é", "“Good”", "日本", "好"]
    assert words_of(read.packed, True) == [[word.encode() for word in forms(text or "")] for text in texts]


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
