"""Texts without some of their words, for models that read words only; without PyTorch and numba."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed, Outline
from regard.errors import InputError

Kept = NDArray[np.bool_]  # (words,) or (versions, words): which words remain
MOST_WORDS = 5000  # per text; each word takes another pass over all the others


def only(indexed: Indexed, kept: Kept) -> Indexed:
    """The text with only these words."""
    return Indexed(indexed.ids[kept], remaining(indexed.shape, kept))


def remaining(shape: Sequence[NDArray[np.int64]], kept: Kept) -> tuple[NDArray[np.int64], ...]:
    """How many words each sentence keeps, and how many sentences each part; those that keep none are dropped."""
    counts_left = []
    for counts in shape:
        owner = np.repeat(np.arange(len(counts)), counts)
        left = np.bincount(owner[kept], minlength=len(counts)).astype(np.int64)
        counts_left.append(left[left > 0])
        kept = left > 0
    return tuple(counts_left)


def all_but(groups: Sequence[NDArray[np.int64]], words: int) -> Kept:
    """One row per group of word indices, which keeps all other words."""
    kept = np.ones((len(groups), words), dtype=bool)
    for row, indices in enumerate(groups):
        kept[row, indices] = False
    return kept


def single_erasures(outline: Outline) -> list[NDArray[np.int64]]:
    """The word indices that are left out together: each word, then the words of each sentence, then those of each part."""
    words = [np.array([index]) for index in range(len(outline.words))]
    groups, every = words, list(words)
    for counts in outline.shape:
        ends = np.cumsum(counts)
        groups = [np.concatenate(groups[end - count : end]) for end, count in zip(ends, counts, strict=True)]
        every += groups
    return every


def check_length(words: int, where: str) -> None:
    if words > MOST_WORDS:
        raise InputError(
            f"{where}: expected at most {MOST_WORDS} words, got {words}; each word takes a pass over the whole text"
        )
