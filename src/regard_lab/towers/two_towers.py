"""Two towers: a user's reviews and an item's reviews, each through words, sentences and reviews; their vectors give a rating.

After *Hierarchical User and Item Representation with Three-Tier Attention for Recommendation* (Wu et al. 2019), which the
APLN authors' talk recommends. Choices: the towers share their word vectors and nothing else; the rating is a linear
function of [u, i, u·i] (· element by element), so that each side has a separate effect and both have a joint one; there are
no embeddings of user and item ids, which the paper adds to the text, so that predictions depend on what was read. A side
without reviews is a vector of zeros.
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
    """The reviews of a user and of an item as ids."""

    user: Indexed
    item: Indexed


def gather(reviews: Sequence[Indexed]) -> Indexed:
    """Reviews of two levels (sentences, words) as one text of three levels; reviews without words are dropped."""
    reviews = [review for review in reviews if len(review.ids)]
    if not reviews:
        nothing = np.zeros(0, dtype=np.int64)
        return Indexed(np.zeros(0, dtype=np.int32), (nothing, nothing))
    counts = np.array([len(review.shape[0]) for review in reviews], dtype=np.int64)
    ids = np.concatenate([review.ids for review in reviews])
    return Indexed(ids, (np.concatenate([review.shape[0] for review in reviews]), counts))


def readings(contexts: Sequence[ReviewContext], reviews: Sequence[Indexed]) -> list[Readings]:
    """The input for each context; `reviews` are those of the index, in its order."""
    return [
        Readings(gather([reviews[index] for index in context.user]), gather([reviews[index] for index in context.item]))
        for context in contexts
    ]


def joined(both: Readings) -> Indexed:
    """User and item as one text, whose length determines the batch of a pair."""
    (words, sentences), (more_words, more_sentences) = both.user.shape, both.item.shape
    shape = (np.concatenate((words, more_words)), np.concatenate((sentences, more_sentences)))
    return Indexed(np.concatenate((both.user.ids, both.item.ids)), shape)


def collate_pairs(rows: Sequence[Readings], labels: NDArray[np.float64] | None = None) -> Pair:
    """A batch, padded on each side to the longest on that side."""
    users, items = (collate(side, LEVELS) for side in ([row.user for row in rows], [row.item for row in rows]))
    return Pair(users, items, None if labels is None else torch.from_numpy(np.asarray(labels)))


class PairOutput(NamedTuple):
    """The prediction for a pair, and the traces of both towers."""

    logits: Tensor  # (B, 1)
    user: tuple[Trace, ...]  # words first
    item: tuple[Trace, ...]

    @property
    def sides(self) -> tuple[Output, Output]:
        """Each tower as a separate output, whose `word_weights` are shares of all words that were read on its side."""
        return Output(self.logits, self.user, {}), Output(self.logits, self.item, {})


class Tower(nn.Module):
    """Levels without a head."""

    def __init__(self, levels: Sequence[Level]):
        super().__init__()
        self.levels = nn.ModuleList(levels)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Trace, ...]:
        """(B, R, S, W, E), (B, R, S, W) -> one Trace per level; the last one's vector is (B, D)"""
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
        return PairOutput(self.rate(user[-1].pooled.vector, item[-1].pooled.vector), user, item)

    def read_user(self, batch: Batch) -> tuple[Trace, ...]:
        traces: tuple[Trace, ...] = self.user(self.dropout(self.embedding(batch.ids)), batch.mask)
        return traces

    def read_item(self, batch: Batch) -> tuple[Trace, ...]:
        traces: tuple[Trace, ...] = self.item(self.dropout(self.embedding(batch.ids)), batch.mask)
        return traces

    def rate(self, user: Tensor, item: Tensor) -> Tensor:
        """(…, D), (…, D) -> (…, 1)"""
        rating: Tensor = self.head(torch.cat((user, item, user * item), -1))
        return rating


def build_towers(config: Model, words: int, dropout: float = 0.0, vectors: Tensor | None = None) -> TwoTowers:
    """A new model for this many word ids (0 is padding). Each tower is initialised like a classifier of three levels."""
    if config.levels != LEVELS:
        raise InputError(f"levels: expected 3 for two towers (words, sentences, reviews), got {config.levels}")
    if any(one.compresses for one in capabilities(config.pooling, config.levels)):
        raise InputError(f"pooling: expected one without rounds of training for two towers, got {config.pooling!r}")
    if config.head_hidden:
        raise InputError("head_hidden: expected False, because the head of two towers has no hidden layer, got True")
    user, item = (build(config, words, 1, dropout, vectors) for _ in range(2))
    head = nn.Linear(3 * user.head.in_features, 1, bias=config.head_bias)
    return TwoTowers(user.embedding, Tower(list(user.levels)), Tower(list(item.levels)), head, dropout)  # type: ignore[arg-type]
