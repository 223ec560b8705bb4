"""Two towers: a user's reviews and an item's reviews, each through words, sentences and reviews; their vectors give a rating.

After *Hierarchical User and Item Representation with Three-Tier Attention for Recommendation* (Wu et al. 2019), which the
APLN authors' talk recommends. Choices: the towers share their word vectors and nothing else; the rating is a linear
function of [u, i, u·i] (· element by element), so that each side can speak alone and both together; no embeddings of user
and item ids, which the paper adds to the text: what is said here was read. A side without reviews is a vector of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.config import Model
from regard.data.collate import collate
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.models.build import build
from regard.models.capabilities import capabilities
from regard.models.classifier import Level
from regard.values import Batch, Output, Pair, Trace
from regard_lab.towers.ratings import ReviewContext

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


def readings(meetings: Sequence[ReviewContext], reviews: Sequence[Indexed]) -> list[Readings]:
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


class PairOutput(NamedTuple):
    """The answer to a pair, and what each tower saw and did."""

    logits: Tensor  # (B, 1)
    user: tuple[Trace, ...]  # words first
    item: tuple[Trace, ...]

    @property
    def sides(self) -> tuple[Output, Output]:
        """Each tower as an output of its own, whose `word_weights` are shares of all that was read on its side."""
        return Output(self.logits, self.user, {}), Output(self.logits, self.item, {})


class Tower(nn.Module):
    """Levels without a head."""

    def __init__(self, levels: Sequence[Level]):
        super().__init__()
        self.levels = nn.ModuleList(levels)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Trace, ...]:
        """(B, R, S, W, E), (B, R, S, W) -> a Trace a level; the last one's vector is (B, D)"""
        traces: list[Trace] = []
        for level in self.levels:
            traces.append(level(x, mask))
            x, mask = traces[-1].pooled.vector, mask.any(-1)
        return tuple(traces)


class TwoTowers(nn.Module):
    def __init__(self, embedding: nn.Embedding, user: Tower, item: Tower, head: nn.Linear, dropout: float = 0.0):
        super().__init__()
        self.embedding, self.user, self.item, self.head = embedding, user, item, head
        self.dropout = nn.Dropout(dropout)

    def forward(self, pair: Pair) -> PairOutput:
        user, item = self.read_user(pair.user), self.read_item(pair.item)
        return PairOutput(self.meet(user[-1].pooled.vector, item[-1].pooled.vector), user, item)

    def read_user(self, batch: Batch) -> tuple[Trace, ...]:
        traces: tuple[Trace, ...] = self.user(self.dropout(self.embedding(batch.ids)), batch.mask)
        return traces

    def read_item(self, batch: Batch) -> tuple[Trace, ...]:
        traces: tuple[Trace, ...] = self.item(self.dropout(self.embedding(batch.ids)), batch.mask)
        return traces

    def meet(self, user: Tensor, item: Tensor) -> Tensor:
        """(…, D), (…, D) -> (…, 1)"""
        rating: Tensor = self.head(torch.cat((user, item, user * item), -1))
        return rating


def build_towers(config: Model, words: int, dropout: float = 0.0, vectors: Tensor | None = None) -> TwoTowers:
    """A fresh model for this many word ids (0 is padding). Each tower is drawn as a classifier of three levels is."""
    if config.levels != LEVELS:
        raise InputError(f"levels = {config.levels}: two towers read words, sentences and reviews; 3 is accepted")
    if any(one.compresses for one in capabilities(config.pooling, config.levels)):
        raise InputError(f"pooling = {config.pooling!r}: two towers have no rounds of training; any other is accepted")
    if config.head_hidden:
        raise InputError("head_hidden = True: two towers have a head of their own, without a hidden layer")
    user, item = (build(config, words, 1, dropout, vectors) for _ in range(2))
    head = nn.Linear(3 * user.head.in_features, 1, bias=config.head_bias)
    return TwoTowers(user.embedding, Tower(list(user.levels)), Tower(list(item.levels)), head, dropout)  # type: ignore[arg-type]
