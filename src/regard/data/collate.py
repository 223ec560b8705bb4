"""Texts of different length side by side: padded batches, and batches of texts of like length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed
from regard.values import Batch

POOL = 50  # batches' worth of shuffled texts that are sorted by length together: little padding, and still chance
MOST_PLACES = 1 << 17  # padded places a batch at most, so that a few enormous texts don't fill the memory


def collate(texts: Sequence[Indexed], levels: int, labels: NDArray[np.float64] | None = None) -> Batch:
    """Ids side by side, padded behind on every axis; labels go along."""
    places = coordinates(texts, levels)
    shape = [len(texts), *(int(axis.max()) + 1 if len(axis) else 1 for axis in places[1:])]
    ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    ids[places] = np.concatenate([text.ids for text in texts])
    mask[places] = True
    return Batch(
        torch.from_numpy(ids), torch.from_numpy(mask), None if labels is None else torch.from_numpy(np.asarray(labels))
    )


def coordinates(texts: Sequence[Indexed], levels: int) -> tuple[NDArray[np.int64], ...]:
    """For every word of every text its place on each axis: text, [part,] [sentence,] word."""
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
    """For each of Σ counts things: whose it is, and the how manieth of its owner."""
    counts = np.asarray(counts, dtype=np.int64)
    owner = np.repeat(np.arange(len(counts)), counts)
    return owner, np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)


def cost(text: Indexed) -> tuple[int, int]:
    """What a text is sorted by: the axis just below the top, then its words."""
    return (len(text.shape[-1]) if text.shape else 0, len(text.ids))


def extent(text: Indexed) -> tuple[int, ...]:
    """How many places a text takes on each axis, at least one: [parts,] [sentences,] words."""
    if not text.shape:
        return (max(len(text.ids), 1),)
    return (max(len(text.shape[-1]), 1), *(int(counts.max(initial=1)) for counts in reversed(text.shape)))


def in_order(texts: Sequence[Indexed], batch_size: int) -> list[NDArray[np.int64]]:
    """Batches of row numbers for reading every text once, texts of like length together."""
    if not texts:
        return []
    by_length = np.lexsort(np.array([cost(text) for text in texts]).T[::-1])
    return [rows[0] for rows in cut(extents(texts), by_length[None], batch_size)]


def shuffled(texts: Sequence[Indexed], batch_size: int, seed: int, epoch: int) -> list[NDArray[np.int64]]:
    """The batches of an epoch, a function of seed and epoch alone: nothing of it needs saving to resume."""
    return [rows[0] for rows in shuffled_together(texts, batch_size, [seed], epoch)]


def shuffled_together(
    texts: Sequence[Indexed], batch_size: int, seeds: Sequence[int], epoch: int
) -> list[NDArray[np.int64]]:
    """The batches of several seeds side by side, (seeds, texts) each; of each seed they are what it would have alone.

    Which texts meet in a batch is the seed's own; in which order batches come, short ones and long ones, is the epoch's. So
    the batches side by side are of like length. (Where a text is too long for a full batch, all seeds cut theirs smaller.)
    """
    if not texts:
        return []
    sizes, places = np.array([cost(text) for text in texts]).T[::-1], extents(texts)
    orders = np.stack([np.random.default_rng((seed, epoch)).permutation(len(texts)) for seed in seeds])
    batches: list[NDArray[np.int64]] = []
    for start in range(0, len(texts), batch_size * POOL):
        pools = orders[:, start : start + batch_size * POOL]
        batches += cut(places, np.stack([pool[np.lexsort(sizes[:, pool])] for pool in pools]), batch_size)
    return [batches[place] for place in np.random.default_rng(epoch).permutation(len(batches))]


def extents(texts: Sequence[Indexed]) -> NDArray[np.int64]:
    return np.array([extent(text) for text in texts], dtype=np.int64)


def cut(places: NDArray[np.int64], orders: NDArray[np.int64], batch_size: int) -> list[NDArray[np.int64]]:
    """Batches in the orders given. Each axis is as long as the longest text on it, and that may be another one on each."""
    batches: list[NDArray[np.int64]] = []
    start = 0
    while start < orders.shape[1]:
        rows = orders[:, start : start + batch_size]
        widest = np.maximum.accumulate(places[rows].max(0), 0)  # (texts so far, axes)
        fits = widest.prod(1) * np.arange(1, len(widest) + 1) <= MOST_PLACES
        count = max(int(fits.argmin()) if not fits.all() else len(fits), 1)
        batches.append(rows[:, :count])
        start += count
    return batches
