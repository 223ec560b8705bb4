"""Texts read once and kept as numbers: the words that `forms` finds, in memory or in a file, and few or many of them."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import gathering
from regard.data.gathering import Gathered, Gathering, Spill, blocks
from regard.data.words import forms
from regard.records import Example

TEXTS = st.lists(st.one_of(st.text(max_size=30), st.text(st.sampled_from("abB .é好<br>'"), max_size=30)), max_size=8)


def examples(*texts: str) -> list[Example]:
    return [Example(text, str(row % 2), row) for row, text in enumerate(texts)]


def words_of(several: Gathering, part: Gathered) -> list[list[str | None]]:
    names, offsets = several.dictionary.words(), part.offsets
    numbers = part.words.read(0, len(part.words)).tolist()
    named = [None if number < 0 else names[number] for number in numbers]
    return [named[low:high] for low, high in pairwise(offsets)]


@given(TEXTS, st.booleans(), st.none() | st.integers(1, 4))
def test_words_are_those_of_each_text(texts: list[str], lowercase: bool, most: int | None) -> None:
    several = Gathering(lowercase, most)
    part = several.read(examples(*texts))
    assert words_of(several, part) == [forms(text, lowercase)[:most] for text in texts]
    assert part.shortened == sum(most is not None and len(forms(text, lowercase)) > most for text in texts)
    assert len(part) == len(part.labels) == len(texts)


def test_parts_share_the_numbers_of_words() -> None:
    several = Gathering(True, None)
    one, other = several.read(examples("good film", "bad film")), several.read(examples("a bad book"))
    assert one.words.read(0, 4).tolist() == [0, 1, 2, 1]
    assert other.words.read(0, 3).tolist() == [3, 2, 4]
    assert one.labels.codes.tolist() == [0, 1]


def test_blocks_and_files_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"word{row % 7} and word{row % 5}" for row in range(50)]
    plain = Gathering(True, None)
    expected = words_of(plain, plain.read(examples(*texts)))
    monkeypatch.setattr(gathering, "BLOCK", 3)
    monkeypatch.setattr(gathering, "Spill", partial(Spill, most=0))
    other = Gathering(True, None)
    assert words_of(other, other.read(iter(examples(*texts)))) == expected


def test_the_rarest_words_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two words are in every text, one is new each time; what was forgotten is so in every part that was read."""
    monkeypatch.setattr(gathering, "BLOCK", 10)
    monkeypatch.setattr(gathering, "MOST_WORDS", 30)
    several = Gathering(True, None)
    parts = [several.read(examples(*(f"good film n{part}x{row}" for row in range(40)))) for part in range(2)]
    assert len(several.dictionary) <= 30
    for number, part in enumerate(parts):
        for row, words in enumerate(words_of(several, part)):
            assert words[:2] == ["good", "film"]
            assert words[2] in (None, f"n{number}x{row}")
    assert all(words[2] is None for words in words_of(several, parts[0]))


def test_texts_and_labels_are_told_apart_by_their_digest() -> None:
    base = [Example("good film", "1", 1), Example("bad film", "0", 2)]
    same = [Example("good film", "1", 8), Example("bad film", "0", 9)]
    others = [
        base[:1],
        base[::-1],
        [base[0], Example("bad film", "1", 2)],
        [base[0], Example("bad  film", "0", 2)],
        [Example("good", "1"), Example("film bad film", "0")],
    ]
    digest = Gathering(True, None).read(base).digest
    assert Gathering(True, None).read(same).digest == digest, "rows are no texts"
    assert all(Gathering(True, None).read(other).digest != digest for other in others)


def test_a_surrogate_is_a_text_too() -> None:
    several = Gathering(True, None)
    assert words_of(several, several.read(examples("a \ud83d b"))) == [forms("a \ud83d b")]


def test_no_texts_are_no_words() -> None:
    part = Gathering(True, None).read([])
    assert (len(part), len(part.words), part.offsets.tolist()) == (0, 0, [0])


def test_blocks_hold_every_example_once() -> None:
    given_ = examples(*map(str, range(gathering.BLOCK + 1)))
    assert [len(block) for block in blocks(given_)] == [gathering.BLOCK, 1]
    assert [example for block in blocks(given_) for example in block] == given_
