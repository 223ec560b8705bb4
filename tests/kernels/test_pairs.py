"""Pairs of neighbouring words against a Counter: edges, unknown words, growth, dropping and look-ups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.kernels.compiling import compiled
from regard.kernels.pairs import EDGE, PARTS, UNKNOWN, PairCounts, PairTable, find_pair, join, split
from regard.kernels.units import find_units

Pair = tuple[int, int]
TEXTS = st.lists(st.lists(st.integers(1, 6), max_size=12), max_size=8)


def packed(texts: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    return np.array([word for text in texts for word in text], dtype=np.int32), np.cumsum([0, *map(len, texts)])


def neighbours(text: Sequence[int]) -> list[Pair]:
    whole = [EDGE, *text, EDGE] if text else []
    return [pair for pair in pairwise(whole) if UNKNOWN not in pair]


def counted(counts: PairCounts, least: int = 1, most: int = 10**9) -> dict[Pair, int]:
    keys, frequencies = counts.frequent(least, most)
    first, second = split(keys)
    return dict(zip(zip(first.tolist(), second.tolist(), strict=True), frequencies.tolist(), strict=True))


def count(blocks: Sequence[Sequence[Sequence[int]]], most: int = 1 << 24) -> PairCounts:
    counts = PairCounts(most)
    for block in blocks:
        counts.add(*packed(block))
    return counts


@given(st.lists(TEXTS, max_size=3))
def test_counts_equal_those_of_a_counter(blocks: list[list[list[int]]]) -> None:
    expected = Counter(pair for block in blocks for text in block for pair in neighbours(text))
    assert counted(count(blocks)) == expected


def test_pairs_by_hand() -> None:
    """0 is the edge of a text; a text without words has no edges; pairs with 1 (unknown) are skipped."""
    pairs = counted(count([[[2, 3, 2, 3], [], [2], [1, 3], [2, 1, 3]]]))
    assert pairs == {(0, 2): 3, (2, 3): 2, (3, 2): 1, (3, 0): 3, (2, 0): 1}


@given(TEXTS, st.integers(1, 4), st.integers(0, 6))
def test_pairs_are_ordered_by_frequency_then_by_key(texts: list[list[int]], least: int, most: int) -> None:
    expected = Counter(pair for text in texts for pair in neighbours(text))
    ranked = sorted((pair for pair in expected if expected[pair] >= least), key=lambda pair: (-expected[pair], pair))
    assert list(counted(count([texts]), least, most)) == ranked[:most]


def test_tables_grow() -> None:
    """More pairs than the initial tables have slots (16 · 4,096), in texts of many lengths."""
    words = np.random.default_rng(0).integers(2, 3000, 200_000)
    texts = [part.tolist() for part in np.split(words, np.cumsum([1, 10, 100, 1000, 10_000, 100_000]))]
    expected = Counter(pair for text in texts for pair in neighbours(text))
    assert len(expected) > 16 * 4096
    assert counted(count([texts[:3], texts[3:]])) == expected


@pytest.mark.parametrize("before", [[], [[2, 3]]])
def test_a_text_longer_than_a_table_is_counted_whole(before: list[list[int]]) -> None:
    """On an empty table and on one with entries."""
    text = np.random.default_rng(1).integers(2, 40_000, 120_000).tolist()
    expected = Counter(pair for each in (*before, text) for pair in neighbours(each))
    assert counted(count([[*before, text]])) == expected


def test_the_rarest_pairs_are_dropped_beyond_the_limit() -> None:
    """Ten pairs occur in every block among thousands that occur once: memory is bounded, and all ten are kept."""
    rng, most = np.random.default_rng(2), 1 << 12
    counts = PairCounts(most)
    blocks = 200
    for _ in range(blocks):
        texts = [[word, word + 1] for word in range(2, 22, 2)] + rng.integers(100, 10**6, (200, 20)).tolist()
        counts.add(*packed(texts))
    slots = sum(map(len, counts._keys))
    assert slots <= PARTS * 4096, "blocks with 800,000 different pairs in tables of 65,536 slots"
    frequent = counted(counts, least=blocks // 2)
    assert {(word, word + 1) for word in range(2, 22, 2)} <= set(frequent)
    assert all(frequent[word, word + 1] == blocks for word in range(2, 22, 2))


def test_split_inverts_join() -> None:
    first, second = np.array([0, 2, 2**31 - 1]), np.array([5, 0, 2**31 - 1])
    np.testing.assert_array_equal(split(join(first, second)), (first, second))


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=60), st.integers(1, 1000))
def test_only_known_pairs_are_found(known: set[Pair], first: int) -> None:
    pairs = sorted(known)
    keys = join(np.array([a for a, _ in pairs], dtype=np.int64), np.array([b for _, b in pairs], dtype=np.int64))
    table = PairTable(keys, first)
    expected = {pair: index for index, pair in enumerate(pairs, first) if UNKNOWN not in pair}
    find = compiled()(find_pair)
    for a in range(10):
        for b in range(10):
            assert find(table.keys, table.ids, a, b) == expected.get((a, b), 0)


def test_an_empty_table() -> None:
    table = PairTable(np.empty(0, dtype=np.int64), 5)
    words, offsets = packed([[2, 3], [4]])
    assert find_units(words, np.zeros_like(words), offsets, table)[0].tolist() == [2, 3, 4]
