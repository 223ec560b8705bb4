"""Units of texts against a plain version in Python: words, beginnings, pairs and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.kernels.pairs import PairTable, join
from regard.kernels.units import beginning_ends, cut, distinct, find_units

UNKNOWN, WORDS, BEGINNINGS, PAIRS = 1, 8, 10, 12  # words 2 to 7, beginnings 8 and 9, pairs from 10
Unit = tuple[int, int, int]
TEXT = st.lists(st.tuples(st.integers(1, WORDS - 1), st.sampled_from([0, 0, 8, 9])), max_size=8)
PAIR = st.tuples(st.integers(0, WORDS - 1), st.integers(0, WORDS - 1))


def offsets_of(texts: Sequence[Sequence[object]]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, texts)]).astype(np.int64)


def plain_units(text: Sequence[tuple[int, int]], pairs: Sequence[tuple[int, int]]) -> list[Unit]:
    """(unit, first word, last word): each word and its beginning, then the pairs, including those with the edges of the text."""
    units: list[Unit] = []
    for index, (word, beginning) in enumerate(text):
        units += [(unit, index, index) for unit in (word, beginning) if unit > UNKNOWN]
    edged = [0, *(word for word, _ in text), 0] if text else []
    for index, pair in enumerate(pairwise(edged)):
        if pair in pairs and UNKNOWN not in pair:
            units.append((BEGINNINGS + pairs.index(pair), max(index - 1, 0), min(index, len(text) - 1)))
    return units or [(UNKNOWN, index, index) for index in range(len(text))]


@given(st.lists(TEXT, max_size=5), st.lists(PAIR, unique=True, max_size=20))
def test_units_equal_those_of_the_plain_version(
    texts: list[list[tuple[int, int]]], pairs: list[tuple[int, int]]
) -> None:
    keys = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    flat = np.array([each for text in texts for each in text], dtype=np.int32).reshape(-1, 2)
    table = PairTable(join(keys[:, 0], keys[:, 1]), BEGINNINGS)
    units = find_units(flat[:, 0].copy(), flat[:, 1].copy(), offsets_of(texts), table)
    expected = [plain_units(text, pairs) for text in texts]
    assert units[3].tolist() == offsets_of(expected).tolist()
    assert list(zip(*(side.tolist() for side in units[:3]), strict=True)) == [
        unit for text in expected for unit in text
    ]


def test_units_by_hand() -> None:
    """ "good bad" with the pair (good, bad), both edges, and a beginning of "bad"; then only unknown words."""
    table = PairTable(join(np.array([0, 2, 3]), np.array([2, 3, 0])), 10)
    words, beginnings = np.array([2, 3, 1, 1], dtype=np.int32), np.array([0, 8, 0, 0], dtype=np.int32)
    ids, first, last, offsets = find_units(words, beginnings, np.array([0, 2, 4, 4]), table)
    assert ids.tolist() == [2, 3, 8, 10, 11, 12, 1, 1]
    assert first.tolist() == [0, 1, 1, 0, 0, 1, 0, 1]
    assert last.tolist() == [0, 1, 1, 0, 1, 1, 0, 1]
    assert offsets.tolist() == [0, 6, 8, 8]


@given(st.lists(st.lists(st.integers(0, 9), max_size=15), max_size=5))
def test_repeated_units_are_counted(texts: list[list[int]]) -> None:
    ids = np.array([unit for text in texts for unit in text], dtype=np.int32)
    kept, counts, bounds = distinct(ids, offsets_of(texts), 10)
    for row, text in enumerate(texts):
        part = slice(bounds[row], bounds[row + 1])
        assert list(zip(kept[part].tolist(), counts[part].tolist(), strict=True)) == list(Counter(text).items())


def test_counts_saturate() -> None:
    kept, counts, bounds = distinct(np.full(70_000, 3, dtype=np.int32), np.array([0, 70_000]), 4)
    assert (kept.tolist(), counts.tolist(), bounds.tolist()) == ([3], [65_535], [0, 1])


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=8), max_size=6), st.integers(1, 6))
def test_a_beginning_is_the_first_letters_of_a_longer_word(words: list[str], letters: int) -> None:
    parts = [word.encode() for word in words]
    bounds = offsets_of(parts)
    data = np.frombuffer(bytearray().join(parts), dtype=np.uint8)
    ends = beginning_ends(data, bounds[:-1], bounds[1:], letters)
    prefixes = [bytes(data[start:end]).decode() for start, end in zip(bounds[:-1], ends, strict=True)]
    assert prefixes == [word[:letters] if len(word) > letters else "" for word in words]


@pytest.mark.parametrize(
    ("word", "beginning"),
    [("films", "fil"), ("fil", ""), ("größer", "grö"), ("öäü", ""), ("好好好好", "好好好"), ("😀😀😀a", "😀😀😀")],
)
def test_letters_are_characters_not_bytes(word: str, beginning: str) -> None:
    data = np.frombuffer(bytearray(word.encode()), dtype=np.uint8)
    (end,) = beginning_ends(data, np.zeros(1, dtype=np.int64), np.array([len(data)]), 3)
    assert bytes(data[:end]).decode() == beginning


@given(st.lists(st.integers(0, 6), max_size=6), st.integers(1, 5))
def test_texts_are_truncated(lengths: list[int], most: int) -> None:
    counts, total = np.array(lengths, dtype=np.int64), sum(lengths)
    starts, ends, left = cut(np.arange(total), np.arange(total) + 1, counts, most)
    begins = np.cumsum([0, *lengths])
    expected = [
        index
        for begin, length in zip(begins, lengths, strict=False)
        for index in range(begin, begin + min(length, most))
    ]
    assert starts.tolist() == expected
    assert ends.tolist() == [index + 1 for index in expected]
    assert left.tolist() == [min(length, most) for length in lengths]
