"""Packed texts: what the scanner finds in them is what `forms` finds, in every script."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.data.packing import SHORT, pack, spans_of_words
from regard.data.words import forms, spans
from regard.kernels.dictionary import Dictionary
from regard.kernels.scanner import find_words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)  # surrogates and control characters too
TRICKY = st.text(
    st.sampled_from(
        "aNn't’TsDo:;=)(-_^<3br/>  .!?#@1,ÉİßΣก้ำ日あーカ\u0301\u200d\ufe0f❤👩🇩\x00\x1c\x1f\x85\xa0\n\u2003\u037e\ud83d"
    ),
    max_size=60,
)
TEXTS = st.lists(st.one_of(ANY_TEXT, TRICKY), max_size=6)


def read(texts: list[str], lowercase: bool) -> list[list[str]]:
    data, offsets = pack(texts, lowercase)
    assert (data.dtype, offsets.dtype, offsets[-1]) == (np.uint8, np.int64, len(data))
    starts, ends, counts = find_words(data, offsets, lowercase)
    dictionary = Dictionary()
    ids = dictionary.add(data, starts, ends)
    known = dictionary.words()
    return (
        [[known[number] for number in text_ids] for text_ids in np.split(ids, np.cumsum(counts)[:-1])] if texts else []
    )


@given(TEXTS, st.booleans())
def test_words_come_back_as_forms_finds_them(texts: list[str], lowercase: bool) -> None:
    assert read(texts, lowercase) == [forms(text, lowercase) for text in texts]


@given(TEXTS, st.booleans())
def test_words_are_found_in_the_characters_of_a_text(texts: list[str], lowercase: bool) -> None:
    data, offsets = pack(texts, lowercase)
    starts, ends, counts = find_words(data, offsets, lowercase)
    bounds = np.concatenate([[0], np.cumsum(counts)])
    for row, text in enumerate(texts):
        own = slice(bounds[row], bounds[row + 1])
        numbers = range(counts[row])
        words = [*zip(numbers, (starts[own] - offsets[row]).tolist(), (ends[own] - offsets[row]).tolist(), strict=True)]
        assert spans_of_words(text, lowercase, words) == spans(text)
        assert spans_of_words(text, lowercase, words[1::2]) == spans(text)[1::2]


def test_pieces_longer_than_the_short_limit_are_words() -> None:
    text = "Don't <BR/>" + "é" * SHORT + "'s <br\u00a0/> " + "日本" * SHORT + "."
    assert read([text, text], True) == [forms(text)] * 2


def test_no_tag_arises_from_what_is_left_out() -> None:
    texts = ["’ <br<br>> good film", "é <br <br>> good", "é <br \u200b > good", "<BR<br/>/>é <b<br>r> x", "é<br\x1c>a"]
    assert read(texts, True) == [forms(text) for text in texts]
    assert forms(texts[0]) == ["'", "<", "br", ">", "good", "film"]


def test_ascii_stays_as_it_is() -> None:
    data, offsets = pack(["It's", "", "<br>OK"])
    assert data.tobytes() == b"It's<br>OK"
    assert offsets.tolist() == [0, 4, 4, 10]
    assert data.flags.writeable


def test_no_texts_give_no_bytes() -> None:
    data, offsets = pack([])
    assert (len(data), offsets.tolist()) == (0, [0])


def test_many_letters_without_a_blank_are_packed_in_one_go() -> None:
    text = "x" * 100_000 + "é" + "y" * 100_000 + "\n" + "z-" * 50_000
    assert read([text, text], True) == [forms(text)] * 2
