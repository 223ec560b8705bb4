"""Padded batches of texts of different length, and the order in which texts of similar length are batched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.padding import padded
from regard.data.stored_texts import costs, extents
from regard.data.tokenizer import Indexed
from regard.values import Batch

POOL = 50  # batches' worth of shuffled texts that are sorted by length together: little padding, and still random
MOST_POSITIONS = 1 << 17  # padded positions per batch, so that a few enormous texts don't fill the memory


def collate(
    texts: Sequence[Indexed],
    levels: int,
    labels: NDArray[np.float64] | None = None,
    weights: NDArray[np.float32] | None = None,
) -> Batch:
    """A batch of ids, padded at the end of every axis, with labels and weights if given."""
    ids, mask = padded(texts, levels)
    return Batch(
        torch.from_numpy(ids),
        torch.from_numpy(mask),
        None if labels is None else torch.from_numpy(np.asarray(labels)),
        weights=None if weights is None else torch.from_numpy(weights),
    )


def in_order(texts: Sequence[Indexed], batch_size: int) -> list[NDArray[np.int64]]:
    """Batches of row numbers that cover every text once, texts of similar length together."""
    if not texts:
        return []
    by_length = np.lexsort(costs(texts).T[::-1])
    return [rows[0] for rows in cut(extents(texts), by_length[None], batch_size)]


def shuffled(texts: Sequence[Indexed], batch_size: int, seed: int, epoch: int) -> list[NDArray[np.int64]]:
    """The batches of an epoch: a function of seed and epoch alone, so that nothing need be saved to resume."""
    return [rows[0] for rows in shuffled_together(texts, batch_size, [seed], epoch)]


def shuffled_together(
    texts: Sequence[Indexed], batch_size: int, seeds: Sequence[int], epoch: int
) -> list[NDArray[np.int64]]:
    """The batches of several seeds side by side, each of shape (seeds, texts); every seed has the batches it would have alone.

    The seed decides which texts share a batch; the epoch decides the order of the batches, short or long. So batches side
    by side have similar lengths. (If a text is too long for a full batch, the batches of all seeds are made smaller.)
    """
    if not texts:
        return []
    sizes, lengths = costs(texts).T[::-1], extents(texts)
    orders = np.stack([np.random.default_rng((seed, epoch)).permutation(len(texts)) for seed in seeds])
    batches: list[NDArray[np.int64]] = []
    for start in range(0, len(texts), batch_size * POOL):
        pools = orders[:, start : start + batch_size * POOL]
        batches += cut(lengths, np.stack([pool[np.lexsort(sizes[:, pool])] for pool in pools]), batch_size)
    return [batches[index] for index in np.random.default_rng(epoch).permutation(len(batches))]


def cut(lengths: NDArray[np.int32], orders: NDArray[np.int64], batch_size: int) -> list[NDArray[np.int64]]:
    """Batches in the given orders. Each axis is as long as the longest text on it, which may differ between axes."""
    batches: list[NDArray[np.int64]] = []
    start = 0
    while start < orders.shape[1]:
        rows = orders[:, start : start + batch_size]
        widest = np.maximum.accumulate(lengths[rows].max(0), 0).astype(np.int64)  # (texts so far, axes)
        fits = widest.prod(1) * np.arange(1, len(widest) + 1) <= MOST_POSITIONS
        count = max(int(fits.argmin()) if not fits.all() else len(fits), 1)
        batches.append(rows[:, :count])
        start += count
    return batches
