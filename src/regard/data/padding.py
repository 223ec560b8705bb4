"""Texts of different length as one array of ids and a mask, without PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed


def padded(texts: Sequence[Indexed], levels: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Ids, 0 on padding at the end of every axis, and a mask that is True on words; one axis per level after the texts."""
    indices = coordinates(texts, levels)
    shape = [len(texts), *(int(axis.max()) + 1 if len(axis) else 1 for axis in indices[1:])]
    ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    ids[indices] = np.concatenate([text.ids for text in texts])
    mask[indices] = True
    return ids, mask


def coordinates(texts: Sequence[Indexed], levels: int) -> tuple[NDArray[np.int64], ...]:
    """The index of every word on each axis: text, [part,] [sentence,] word."""
    if levels == 1:
        return owners([len(text.ids) for text in texts])
    lengths = np.concatenate([text.shape[0] for text in texts])
    sentence, word = owners(lengths)
    if levels == 2:
        text, position = owners([len(text.shape[0]) for text in texts])
        return text[sentence], position[sentence], word
    part, position = owners(np.concatenate([text.shape[1] for text in texts]))
    text, number = owners([len(text.shape[1]) for text in texts])
    return text[part[sentence]], number[part[sentence]], position[sentence], word


def owners(counts: Sequence[int] | NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each of Σ counts items: the index of its owner, and its position within that owner."""
    counts = np.asarray(counts, dtype=np.int64)
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
