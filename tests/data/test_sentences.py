"""Sentences and parts: where they end, and that they contain every word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import words
from regard.data.sentences import parts, sentences, word_ranges

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.text(st.sampled_from("aB .!?…。」)\"'\n1ก<br>/-\u0301*"), max_size=50),
)


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@given(TEXTS)
def test_sentences_and_parts_contain_every_word_once(text: str) -> None:
    for pieces in (sentences(text), parts(text)):
        inside = [word for start, end in pieces for word in words.spans(text) if start <= word[0] and word[1] <= end]
        assert inside == words.spans(text)
        assert all(text[start:end].strip() == text[start:end] != "" for start, end in pieces)


@given(TEXTS)
def test_word_ranges_are_the_sentences_counted_in_words(text: str) -> None:
    spans = words.spans(text)
    ranges = word_ranges(text, spans)
    assert [(spans[first][0], spans[last - 1][1]) for first, last in ranges] == sentences(text)
    assert [word for first, last in ranges for word in spans[first:last]] == spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It works. I like it! Do you?", ["It works.", "I like it!", "Do you?"]),
        ("a fine film . it moves !", ["a fine film .", "it moves !"]),
        ("( it moves . ) he said ''  so", ["( it moves . )", "he said ''  so"]),
        ("Mr. Fox met Dr. Owl, e.g. at noon.", ["Mr. Fox met Dr. Owl, e.g. at noon."]),
        ("J. R. Hart left the U.S. Navy. Yes.", ["J. R. Hart left the U.S. Navy.", "Yes."]),
        ("We left the U.S. The end.", ["We left the U.S.", "The end."]),
        ("Cats, dogs etc. are fine. Mice etc. Not rats.", ["Cats, dogs etc. are fine.", "Mice etc.", "Not rats."]),
        ("It cost 3.50 at No. 5. I said no. Then", ["It cost 3.50 at No. 5.", "I said no.", "Then"]),
        ('"Why?" she said. "Go." He went.', ['"Why?" she said.', '"Go."', "He went."]),
        ("Well... maybe… not. Oh... Fine", ["Well... maybe… not.", "Oh...", "Fine"]),
        ("one\ntwo<br /><br />three\n\nfour", ["one", "two", "three", "four"]),
        ("好。「好！」真的？是", ["好。", "「好！」", "真的？", "是"]),
        ("هل هذا؟ نعم", ["هل هذا؟", "نعم"]),
        ("यह है। ठीक", ["यह है।", "ठीक"]),
        ("ดีมาก ชอบ ok", ["ดีมาก", "ชอบ ok"]),
    ],
)
def test_sentences_end_where_expected(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_piece_without_a_letter_joins_its_neighbour() -> None:
    assert split("***\none\n---\ntwo . . .") == ["***\none\n---", "two . . ."]
    assert split("!!!\n???") == ["!!!\n???"]


@pytest.mark.parametrize("text", ["", "  \n", "<br />", "\x00"])
def test_blank_text_has_no_sentences(text: str) -> None:
    assert sentences(text) == parts(text) == []


def test_an_address_is_never_cut() -> None:
    assert split("see http://a.org/b.?c and") == ["see http://a.org/b.?c and"]


def test_parts_are_separated_by_blank_lines() -> None:
    text = "\n one.\ntwo \n \r\n\nthree\n\n"
    assert [text[start:end] for start, end in parts(text)] == ["one.\ntwo", "three"]


@pytest.mark.parametrize("unit", [". ", "a. ", ". ' ", "..", "。", "\n ", "<br ", ". ) "])
def test_long_runs_are_read_in_linear_time(unit: str) -> None:
    text = unit * 100_000
    assert len(sentences(text)) <= 1
    assert len(parts(text)) <= 1
