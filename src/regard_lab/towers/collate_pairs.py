"""Reviews side by side for two towers: those of a user as one text of three levels, those of an item as another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.collate import collate
from regard.data.tokenizer import Indexed
from regard.values import Pair
from regard_lab.towers.ratings import Meeting

LEVELS = 3  # words, sentences, reviews


class Readings(NamedTuple):
    """What there is to read of a user and of an item, as ids."""

    user: Indexed
    item: Indexed


def gather(reviews: Sequence[Indexed]) -> Indexed:
    """Reviews of two levels (sentences, words) as one text of three. Of reviews without a word nothing is left."""
    reviews = [review for review in reviews if len(review.ids)]
    if not reviews:
        nothing = np.zeros(0, dtype=np.int64)
        return Indexed(np.zeros(0, dtype=np.int32), (nothing, nothing))
    counts = np.array([len(review.shape[0]) for review in reviews], dtype=np.int64)
    ids = np.concatenate([review.ids for review in reviews])
    return Indexed(ids, (np.concatenate([review.shape[0] for review in reviews]), counts))


def readings(meetings: Sequence[Meeting], reviews: Sequence[Indexed]) -> list[Readings]:
    """`reviews` are the known ones, in their order."""
    return [
        Readings(gather([reviews[place] for place in meeting.user]), gather([reviews[place] for place in meeting.item]))
        for meeting in meetings
    ]


def together(both: Readings) -> Indexed:
    """User and item as one text: what a meeting costs, for batches of like length."""
    (words, sentences), (more_words, more_sentences) = both.user.shape, both.item.shape
    shape = (np.concatenate((words, more_words)), np.concatenate((sentences, more_sentences)))
    return Indexed(np.concatenate((both.user.ids, both.item.ids)), shape)


def collate_pairs(rows: Sequence[Readings], labels: NDArray[np.float64] | None = None) -> Pair:
    """Padded on both sides, each as wide as its own longest."""
    users, items = (collate(side, LEVELS) for side in ([row.user for row in rows], [row.item for row in rows]))
    return Pair(users, items, None if labels is None else torch.from_numpy(np.asarray(labels)))
