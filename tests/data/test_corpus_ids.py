"""Texts read once and kept as ids: the words that `forms` finds, in memory or in a file, few or many."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import corpus_ids
from regard.data.corpus_ids import CorpusIds, CorpusIndexer, blocks
from regard.data.spilling_array import SpillingArray
from regard.data.words import forms
from regard.records import Example

TEXTS = st.lists(st.one_of(st.text(max_size=30), st.text(st.sampled_from("abB .é好<br>'"), max_size=30)), max_size=8)


def examples(*texts: str) -> list[Example]:
    return [Example(text, str(row % 2), row) for row, text in enumerate(texts)]


def words_of(indexer: CorpusIndexer, part: CorpusIds) -> list[list[str | None]]:
    names, offsets = indexer.dictionary.words(), part.offsets
    numbers = part.words.read(0, len(part.words)).tolist()
    named = [None if number < 0 else names[number] for number in numbers]
    return [named[low:high] for low, high in pairwise(offsets)]


@given(TEXTS, st.booleans(), st.none() | st.integers(1, 4))
def test_words_are_those_of_each_text(texts: list[str], lowercase: bool, most: int | None) -> None:
    indexer = CorpusIndexer(lowercase, most)
    part = indexer.read(examples(*texts))
    assert words_of(indexer, part) == [forms(text, lowercase)[:most] for text in texts]
    assert part.shortened == sum(most is not None and len(forms(text, lowercase)) > most for text in texts)
    assert len(part) == len(part.labels) == len(texts)


def test_parts_share_the_numbers_of_words() -> None:
    indexer = CorpusIndexer(True, None)
    one, other = indexer.read(examples("good film", "bad film")), indexer.read(examples("a bad book"))
    assert one.words.read(0, 4).tolist() == [0, 1, 2, 1]
    assert other.words.read(0, 3).tolist() == [3, 2, 4]
    assert one.labels.codes.tolist() == [0, 1]


def test_blocks_and_files_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"word{row % 7} and word{row % 5}" for row in range(50)]
    plain = CorpusIndexer(True, None)
    expected = words_of(plain, plain.read(examples(*texts)))
    monkeypatch.setattr(corpus_ids, "BLOCK", 3)
    monkeypatch.setattr(corpus_ids, "SpillingArray", partial(SpillingArray, most=0))
    other = CorpusIndexer(True, None)
    assert words_of(other, other.read(iter(examples(*texts)))) == expected


def test_the_rarest_words_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two words are in every text, one is new each time; dropped words are dropped in every split."""
    monkeypatch.setattr(corpus_ids, "BLOCK", 10)
    monkeypatch.setattr(corpus_ids, "MOST_WORDS", 30)
    indexer = CorpusIndexer(True, None)
    parts = [indexer.read(examples(*(f"good film n{part}x{row}" for row in range(40)))) for part in range(2)]
    assert len(indexer.dictionary) <= 30
    for number, part in enumerate(parts):
        for row, words in enumerate(words_of(indexer, part)):
            assert words[:2] == ["good", "film"]
            assert words[2] in (None, f"n{number}x{row}")
    assert all(words[2] is None for words in words_of(indexer, parts[0]))


def test_texts_and_labels_determine_the_digest() -> None:
    base = [Example("good film", "1", 1), Example("bad film", "0", 2)]
    same = [Example("good film", "1", 8), Example("bad film", "0", 9)]
    others = [
        base[:1],
        base[::-1],
        [base[0], Example("bad film", "1", 2)],
        [base[0], Example("bad  film", "0", 2)],
        [Example("good", "1"), Example("film bad film", "0")],
    ]
    digest = CorpusIndexer(True, None).read(base).digest
    assert CorpusIndexer(True, None).read(same).digest == digest, "row numbers are not part of the digest"
    assert all(CorpusIndexer(True, None).read(other).digest != digest for other in others)


def test_a_surrogate_is_a_text_too() -> None:
    indexer = CorpusIndexer(True, None)
    assert words_of(indexer, indexer.read(examples("a \ud83d b"))) == [forms("a \ud83d b")]


def test_no_texts_give_no_words() -> None:
    part = CorpusIndexer(True, None).read([])
    assert (len(part), len(part.words), part.offsets.tolist()) == (0, 0, [0])


def test_blocks_hold_every_example_once() -> None:
    given_ = examples(*map(str, range(corpus_ids.BLOCK + 1)))
    assert [len(block) for block in blocks(given_)] == [corpus_ids.BLOCK, 1]
    assert [example for block in blocks(given_) for example in block] == given_
