"""Batches: every word at its index, padding at the end, every text once, and no batch too large."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.data import collate as module
from regard.data.collate import collate, in_order, shuffled
from regard.data.stored_texts import extent
from regard.data.tokenizer import Indexed

# texts of parts of sentences of words; a text may be empty, a part or sentence may not
SENTENCE = st.lists(st.integers(1, 99), min_size=1, max_size=5)
TEXT = st.lists(st.lists(SENTENCE, min_size=1, max_size=4), max_size=3)
Nested = list[list[list[int]]]


def indexed(text: Nested, levels: int) -> Indexed:
    lengths = np.array([len(sentence) for part in text for sentence in part], dtype=np.int64)
    counts = np.array([len(part) for part in text], dtype=np.int64)
    ids = np.array([word for part in text for sentence in part for word in sentence], dtype=np.int32)
    return Indexed(ids, (lengths, counts)[: levels - 1])


def placed(text: Nested, levels: int) -> dict[tuple[int, ...], int]:
    """Each word by its index in the text."""
    rows = [
        (r, s, w, word)
        for r, part in enumerate(text)
        for s, sentence in enumerate(part)
        for w, word in enumerate(sentence)
    ]
    if levels == 3:
        return {(r, s, w): word for r, s, w, word in rows}
    if levels == 2:
        before = np.cumsum([0, *(len(part) for part in text)])
        return {(int(before[r]) + s, w): word for r, s, w, word in rows}
    return {(place,): word for place, (*_, word) in enumerate(rows)}


@given(st.lists(TEXT, min_size=1, max_size=5), st.sampled_from([1, 2, 3]))
def test_every_word_is_at_its_index_with_padding_at_the_end(texts: list[Nested], levels: int) -> None:
    batch = collate([indexed(text, levels) for text in texts], levels)
    words = {(row, *place): word for row, text in enumerate(texts) for place, word in placed(text, levels).items()}
    ids = np.zeros(
        [len(texts), *(max((place[axis] for place in words), default=0) + 1 for axis in range(1, levels + 1))]
    )
    for place, word in words.items():
        ids[place] = word
    assert batch.ids.tolist() == ids.tolist()
    assert torch.equal(batch.mask, batch.ids > 0)
    assert (batch.ids.dtype, batch.mask.dtype, batch.labels) == (torch.int64, torch.bool, None)
    mask = batch.mask
    for _ in range(levels):
        assert torch.equal(mask, mask.cummin(-1).values)  # never a real one behind padding
        mask = mask.any(-1)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_an_empty_text_gives_a_wholly_padded_row(levels: int) -> None:
    full = [[[5, 6], [7]]]
    batch = collate([indexed(text, levels) for text in ([], full, [])], levels)
    assert batch.mask.flatten(1).any(1).tolist() == [False, True, False]
    alone = collate([indexed([], levels)], levels)
    assert alone.ids.shape == (1,) * (levels + 1)
    assert not alone.mask.any()


def test_labels_are_part_of_the_batch() -> None:
    batch = collate([indexed([[[1]]], 1)] * 2, 1, np.array([1.0, 0.5]))
    assert batch.labels is not None
    assert batch.labels.tolist() == [1.0, 0.5]


@given(TEXT, st.sampled_from([1, 2, 3]))
def test_the_extent_of_a_text_is_what_it_takes_alone(text: Nested, levels: int) -> None:
    one = indexed(text, levels)
    assert (1, *extent(one)) == tuple(collate([one], levels).ids.shape)


@given(
    st.lists(TEXT, max_size=40), st.sampled_from([1, 2, 3]), st.integers(1, 9), st.integers(1, 300), st.integers(0, 9)
)
def test_batches_hold_every_text_once_and_keep_to_both_limits(
    nested: list[Nested], levels: int, batch_size: int, most: int, seed: int
) -> None:
    texts = [indexed(text, levels) for text in nested]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_POSITIONS", most)
        patch.setattr(module, "POOL", 2)
        plans = [in_order(texts, batch_size), shuffled(texts, batch_size, seed, 0)]
    for batches in plans:
        assert sorted(int(row) for batch in batches for row in batch) == list(range(len(texts)))
        for rows in batches:
            assert 1 <= len(rows) <= batch_size
            places = collate([texts[row] for row in rows], levels).ids.numel()
            assert len(rows) == 1 or places <= most


def test_a_long_text_and_one_of_many_sentences_are_kept_apart() -> None:
    # Each takes 1000 positions alone, but in one batch they would take 2 × 1000 × 1000.
    texts = [indexed([[[1] * 1000]], 2), indexed([[[1]] * 1000], 2)]
    assert math.prod(extent(texts[0])) == math.prod(extent(texts[1])) == 1000
    assert len(in_order(texts, 64)) == 2


def plan(batches: list[NDArray[np.int64]]) -> list[list[int]]:
    return [batch.tolist() for batch in batches]


def test_shuffling_is_a_function_of_seed_and_epoch() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 500)
    texts = [indexed([[[1] * length]], 1) for length in lengths]
    first = plan(shuffled(texts, 8, seed=1, epoch=2))
    assert plan(shuffled(texts, 8, seed=1, epoch=2)) == first
    assert plan(shuffled(texts, 8, seed=1, epoch=3)) != first
    assert plan(shuffled(texts, 8, seed=2, epoch=2)) != first


def test_texts_of_similar_length_share_a_batch() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 400)
    texts = [indexed([[[1] * length]], 1) for length in lengths]
    for batches in (in_order(texts, 8), shuffled(texts, 8, 0, 0)):
        places = sum(len(rows) * lengths[rows].max() for rows in batches)
        assert lengths.sum() > 0.9 * places
    assert np.concatenate([lengths[rows] for rows in in_order(texts, 8)]).tolist() == sorted(lengths.tolist())


def test_no_texts_give_no_batches() -> None:
    assert in_order([], 8) == shuffled([], 8, 0, 0) == []
