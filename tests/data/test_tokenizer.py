"""Tokenizer: ids, spans and shapes agree with each other and with a handwritten nested list."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import words
from regard.data.sentences import parts, sentences
from regard.data.tokenizer import Indexed, Tokenizer
from regard.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary

VOCABULARY = Vocabulary(("good", "bad", "."))
# parts of sentences of words, none of them empty
NESTED = st.lists(
    st.lists(st.lists(st.sampled_from(["good", "bad", "odd"]), min_size=1, max_size=4), min_size=1, max_size=3)
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.text(st.sampled_from("aB .!?。)\"'\n1<br>/-\u0301*"), max_size=50),
)


def written(nested: list[list[list[str]]]) -> str:
    return "\n\n".join("\n".join(" ".join(sentence) for sentence in part) for part in nested)


def shapes(text: Indexed) -> list[list[int]]:
    return [counts.tolist() for counts in text.shape]


@given(NESTED)
def test_shapes_are_those_of_the_nested_list(nested: list[list[list[str]]]) -> None:
    text = written(nested)
    lengths = [len(sentence) for part in nested for sentence in part]
    counts = [len(part) for part in nested]
    assert shapes(Tokenizer(VOCABULARY, 1).encode(text)) == []
    assert shapes(Tokenizer(VOCABULARY, 2).encode(text)) == [lengths]
    assert shapes(Tokenizer(VOCABULARY, 3).encode(text)) == [lengths, counts]
    number = {"good": SPECIALS, "bad": SPECIALS + 1, "odd": UNKNOWN}
    flat = [number[word] for part in nested for sentence in part for word in sentence]
    assert all(Tokenizer(VOCABULARY, levels).encode(text).ids.tolist() == flat for levels in (1, 2, 3))


@given(NESTED, st.integers(1, 12))
def test_max_words_cuts_the_nested_list_and_leaves_no_empty_unit(nested: list[list[list[str]]], most: int) -> None:
    text, left = written(nested), most
    kept: list[list[int]] = []
    for part in nested:
        lengths = []
        for sentence in part:
            lengths.append(min(len(sentence), left))
            left -= lengths[-1]
        kept.append([length for length in lengths if length])
    kept = [part for part in kept if part]
    short = Tokenizer(VOCABULARY, 3, max_words=most)
    assert shapes(short.encode(text)) == [[length for part in kept for length in part], [len(part) for part in kept]]
    assert len(short.encode(text).ids) == sum(map(sum, kept))
    assert len(Tokenizer(VOCABULARY, 1, max_words=most).encode(text).ids) == sum(map(sum, kept))


@given(TEXTS, st.sampled_from([1, 2, 3]), st.none() | st.integers(1, 9))
def test_ids_spans_and_shapes_agree_for_any_text(text: str, levels: int, most: int | None) -> None:
    tokenizer = Tokenizer(VOCABULARY, levels, max_words=most)
    coded, outline = tokenizer.encode(text), tokenizer.outline(text)
    assert outline.words == words.spans(text)[:most]
    assert len(coded.ids) == len(outline.words)
    assert shapes(coded) == [counts.tolist() for counts in outline.shape]
    assert len(coded.shape) == levels - 1
    assert all(counts.dtype == np.int64 and (counts > 0).all() for counts in coded.shape)
    things = len(coded.ids)
    for counts, units in zip(coded.shape, (outline.sentences, outline.parts), strict=False):
        assert counts.sum() == things
        things = len(units)
        assert things == len(counts)


@given(TEXTS)
def test_an_uncut_outline_has_the_sentences_and_parts_of_the_text(text: str) -> None:
    assert Tokenizer(VOCABULARY, 2).outline(text).sentences == sentences(text)
    assert Tokenizer(VOCABULARY, 3).outline(text).parts == parts(text)


def test_a_sentence_ends_where_its_part_ends() -> None:
    text = "good one\n\n* * *\n\nbad"  # the stars have no letter: within a part they would join their neighbour
    assert shapes(Tokenizer(VOCABULARY, 2).encode(text)) == [[5, 1]]
    assert shapes(Tokenizer(VOCABULARY, 3).encode(text)) == [[2, 3, 1], [1, 1, 1]]


def test_max_words_does_not_move_sentence_ends() -> None:
    text = "good .\n* bad .\nodd"
    assert shapes(Tokenizer(VOCABULARY, 2, max_words=3).encode(text)) == [[2, 1]]
    outline = Tokenizer(VOCABULARY, 2, max_words=3).outline(text)
    assert [text[start:end] for start, end in outline.sentences] == ["good .", "* bad ."]


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("text", ["", " \n\n ", "<br />", "\x00"])
def test_a_text_without_words_has_empty_shapes(text: str, levels: int) -> None:
    coded = Tokenizer(VOCABULARY, levels).encode(text)
    assert coded.ids.tolist() == []
    assert shapes(coded) == [[]] * (levels - 1)
    assert Tokenizer(VOCABULARY, levels).outline(text)[:3] == ([], [], [])


def test_upper_case_matters_only_without_lowercase() -> None:
    assert Tokenizer(VOCABULARY).encode("Good bad").ids.tolist() == [2, 3]
    assert Tokenizer(VOCABULARY, lowercase=False).encode("Good bad").ids.tolist() == [UNKNOWN, 3]


@given(
    st.lists(st.text(st.characters(), min_size=1, max_size=8), unique=True),
    st.sampled_from([1, 2, 3]),
    st.booleans(),
    st.none() | st.integers(1, 9),
)
def test_a_tokenizer_round_trips_through_json(forms: list[str], levels: int, lowercase: bool, most: int | None) -> None:
    tokenizer = Tokenizer(Vocabulary(tuple(forms)), levels, lowercase, most)
    assert_same(Tokenizer.from_dict(json.loads(tokenizer.to_json().encode())), tokenizer)


def assert_same(one: Tokenizer, other: Tokenizer) -> None:
    plain = [{name: value for name, value in vars(each).items() if name in FIELDS} for each in (one, other)]
    assert plain[0] == plain[1]
    np.testing.assert_array_equal(one.pairs, other.pairs)


FIELDS = {"vocabulary", "levels", "lowercase", "max_words", "letters", "beginnings"}


@given(
    st.lists(st.text(st.characters(), min_size=1, max_size=8), unique=True),
    st.lists(st.text(st.characters(), min_size=3, max_size=3), unique=True),
    st.data(),
)
def test_pairs_and_beginnings_round_trip_through_json(
    forms: list[str], beginnings: list[str], data: st.DataObject
) -> None:
    number = st.integers(0, len(forms) + 1)
    pairs = np.array(data.draw(st.lists(st.tuples(number, number))), dtype=np.int64).reshape(-1, 2)
    tokenizer = Tokenizer(Vocabulary(tuple(forms)), letters=3, beginnings=tuple(beginnings), pairs=pairs)
    again = Tokenizer.from_dict(json.loads(tokenizer.to_json().encode()))
    assert_same(again, tokenizer)
    assert len(again) == 2 + len(forms) + len(beginnings) + len(pairs)


def test_a_tokenizer_of_the_first_format_has_words_alone() -> None:
    row = {"format": "regard words 1", "levels": 1, "lowercase": True, "max_words": None, "words": ["good", "bad"]}
    assert_same(Tokenizer.from_dict(row), Tokenizer(Vocabulary(("good", "bad"))))


@pytest.mark.parametrize(
    "pairs",
    [[[0], [5]], [[-1], [2]], [[2, 3], [3]], [[2]], [[2], [3], [4]], [2, 3], [["good"], ["bad"]], [[2.5], [None]]],
)
def test_pairs_of_invalid_ids_are_rejected(pairs: list[object]) -> None:
    row = json.loads(Tokenizer(VOCABULARY).to_json())  # its words have the numbers 2, 3 and 4
    with pytest.raises((ValueError, TypeError)):
        Tokenizer.from_dict({**row, "pairs": pairs})


UNITS = Tokenizer(VOCABULARY, letters=3, beginnings=("fil", "mov"), pairs=np.array([[0, 2], [2, 3], [3, 4]]))


def test_units_by_hand() -> None:
    """Words 2 to 4, beginnings 5 and 6, pairs 7 to 9; "odd" is unknown, and "movies" is known by its beginning."""
    units = UNITS.encode_all(["Good bad.", "odd movies", "", "odd"])
    assert units.ids.tolist() == [2, 3, 4, 7, 8, 9, 6, UNKNOWN]
    assert units.first.tolist() == [0, 1, 2, 0, 0, 1, 1, 0]
    assert units.last.tolist() == [0, 1, 2, 0, 1, 2, 1, 0]
    assert units.offsets.tolist() == [0, 6, 7, 7, 8]
    assert units.words.tolist() == [3, 2, 0, 1]
    assert UNITS.encode("Good bad.").ids.tolist() == [2, 3, 4, 7, 8, 9]


@given(st.lists(TEXTS, max_size=5), st.none() | st.integers(1, 9), st.booleans())
def test_without_units_many_texts_are_what_each_is_alone(texts: list[str], most: int | None, lowercase: bool) -> None:
    tokenizer = Tokenizer(VOCABULARY, lowercase=lowercase, max_words=most)
    units, alone = tokenizer.encode_all(texts), [tokenizer.encode(text).ids for text in texts]
    assert units.ids.tolist() == [number for ids in alone for number in ids.tolist()]
    assert units.words.tolist() == np.diff(units.offsets).tolist() == [len(ids) for ids in alone]
    assert units.first.tolist() == units.last.tolist() == [place for ids in alone for place in range(len(ids))]


@given(st.lists(TEXTS, max_size=5), st.none() | st.integers(1, 9))
def test_units_cover_words_of_their_text(texts: list[str], most: int | None) -> None:
    tokenizer = Tokenizer(
        VOCABULARY, max_words=most, letters=1, beginnings=("a", "b"), pairs=np.array([[0, 2], [2, 0]])
    )
    units = tokenizer.encode_all(texts)
    assert units.words.tolist() == [len(tokenizer.outline(text).words) for text in texts]
    for text in range(len(texts)):
        text_units = slice(units.offsets[text], units.offsets[text + 1])
        assert (units.offsets[text + 1] > units.offsets[text]) == (units.words[text] > 0)
        assert (units.first[text_units] >= 0).all()
        assert (units.first[text_units] <= units.last[text_units]).all()
        assert (units.last[text_units] < max(units.words[text], 1)).all()
    assert ((units.ids >= 1) & (units.ids < len(tokenizer))).all()


def test_json_keeps_odd_characters_apart_and_others_readable() -> None:
    odd = ("?", "\ud83d", "\ude00", "😀", "\u2028", "a\u0301", "á", '"', "\\ud83d", "\x7f", "好", "n't")
    text = Tokenizer(Vocabulary(odd)).to_json()
    assert Tokenizer.from_dict(json.loads(text.encode("utf-8"))).vocabulary.words == odd
    assert "好" in text


def test_another_format_is_refused() -> None:
    row = json.loads(Tokenizer(VOCABULARY).to_json())
    with pytest.raises(ValueError, match="format: expected 'regard words 2', got 'words 9'"):
        Tokenizer.from_dict({**row, "format": "words 9"})
