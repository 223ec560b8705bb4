"""Two towers: a user's reviews and an item's reviews, each through words, sentences and reviews; their vectors give a rating.

After *Hierarchical User and Item Representation with Three-Tier Attention for Recommendation* (Wu et al. 2019), which the
APLN authors' talk recommends. Choices: the towers share their word vectors and nothing else; the rating is a linear
function of [u, i, u·i] (· element by element), so that each side has a separate effect and both have a joint one; there are
no embeddings of user and item ids, which the paper adds to the text, so that predictions depend on what was read. A side
without reviews is a vector of zeros.

`Form` has what the paper's public code (`movie.py` of NAACL2019-HUITA) does instead: the vector of an id is concatenated to
that of the reviews, the rating is a linear function of u·i alone, and a ReLU keeps it from being negative. With a ReLU, ratings
are learned in their own unit, as there; our choice is that the bias starts at their mean, because a rating that starts below 0
has no gradient, and with small initial weights that could be every rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

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
from regard_lab.towers.ids import UNKNOWN, Ids, IdVectors
from regard_lab.towers.ratings import ReviewContext

LEVELS = 3  # words, sentences, reviews
Head = Literal["concat", "product"]


@dataclass(frozen=True)
class Form:
    """What is done with the vectors of both towers. The defaults are ours."""

    ids: int = 0  # width of the vectors of ids; 0: there are none
    head: Head = "concat"  # of [u, i, u·i], or the product u·i alone
    relu: bool = False

    def check(self) -> None:
        if isinstance(self.ids, bool) or not isinstance(self.ids, int) or self.ids < 0:
            raise InputError(f"ids: expected a width of 0 (no vectors of ids) or more, got {self.ids!r}")
        if self.head not in ("concat", "product"):
            raise InputError(f"head: expected concat or product, got {self.head!r}")


OURS = Form()


class Readings(NamedTuple):
    """The reviews of a user and of an item as word ids, and the rows of both in the tables of ids."""

    user: Indexed
    item: Indexed
    ids: tuple[int, int] = (UNKNOWN, UNKNOWN)


def gather(reviews: Sequence[Indexed]) -> Indexed:
    """Reviews of two levels (sentences, words) as one text of three levels; reviews without words are dropped."""
    reviews = [review for review in reviews if len(review.ids)]
    if not reviews:
        nothing = np.zeros(0, dtype=np.int64)
        return Indexed(np.zeros(0, dtype=np.int32), (nothing, nothing))
    counts = np.array([len(review.shape[0]) for review in reviews], dtype=np.int64)
    ids = np.concatenate([review.ids for review in reviews])
    return Indexed(ids, (np.concatenate([review.shape[0] for review in reviews]), counts))


def readings(contexts: Sequence[ReviewContext], reviews: Sequence[Indexed], ids: Ids) -> list[Readings]:
    """The input for each context; `reviews` are those of the index, in its order."""

    def side(indices: Sequence[int]) -> Indexed:
        return gather([reviews[index] for index in indices])

    return [Readings(side(context.user), side(context.item), ids.rows(context.names)) for context in contexts]


def joined(both: Readings) -> Indexed:
    """User and item as one text, whose length determines the batch of a pair."""
    (words, sentences), (more_words, more_sentences) = both.user.shape, both.item.shape
    shape = (np.concatenate((words, more_words)), np.concatenate((sentences, more_sentences)))
    return Indexed(np.concatenate((both.user.ids, both.item.ids)), shape)


def collate_pairs(rows: Sequence[Readings], labels: NDArray[np.float64] | None = None) -> Pair:
    """A batch, padded on each side to the longest on that side."""
    users, items = (collate(side, LEVELS) for side in ([row.user for row in rows], [row.item for row in rows]))
    ids = torch.tensor([row.ids for row in rows])  # (B, 2)
    return Pair(users, items, None if labels is None else torch.from_numpy(np.asarray(labels)), ids)


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
    def __init__(
        self,
        embedding: nn.Embedding,
        user: Tower,
        item: Tower,
        head: nn.Linear,
        dropout: float = 0.0,
        form: Form = OURS,
        ids: tuple[IdVectors, IdVectors] | None = None,
    ):
        super().__init__()
        self.embedding, self.user, self.item, self.head, self.form = embedding, user, item, head, form
        self.user_ids: IdVectors | None = ids[0] if ids else None
        self.item_ids: IdVectors | None = ids[1] if ids else None
        self.dropout = nn.Dropout(dropout)

    def forward(self, pair: Pair) -> PairOutput:
        user, item = self.read_user(pair.user), self.read_item(pair.item)
        return PairOutput(self.rate(*self.vectors(user, item, pair.ids)), user, item)

    def read_user(self, batch: Batch) -> tuple[Trace, ...]:
        traces: tuple[Trace, ...] = self.user(self.dropout(self.embedding(batch.ids)), batch.mask)
        return traces

    def read_item(self, batch: Batch) -> tuple[Trace, ...]:
        traces: tuple[Trace, ...] = self.item(self.dropout(self.embedding(batch.ids)), batch.mask)
        return traces

    def vectors(self, user: Sequence[Trace], item: Sequence[Trace], ids: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """u and i, (B, D) each: what was read, followed by the vectors of the ids if there are any."""
        users, items = (None, None) if ids is None else ids.unbind(-1)
        return (
            with_ids(user[-1].pooled.vector, self.user_ids, users),
            with_ids(item[-1].pooled.vector, self.item_ids, items),
        )

    def rate(self, user: Tensor, item: Tensor) -> Tensor:
        """(…, D), (…, D) -> (…, 1)"""
        rating: Tensor = self.head(self.joined(user, item))
        return rating.relu() if self.form.relu else rating

    def joined(self, user: Tensor, item: Tensor) -> Tensor:
        product = user * item
        return product if self.form.head == "product" else torch.cat((user, item, product), -1)

    def terms(self, user: Tensor, item: Tensor) -> dict[str, Tensor]:
        """(B, D), (B, D) -> what `rate` adds up, before the ReLU, by name, (B,) each: parts of the head and its bias."""
        names = ("together",) if self.form.head == "product" else ("user", "item", "together")
        parts = (self.joined(user, item) * self.head.weight[0]).unflatten(-1, (len(names), -1))  # (B, names, D)
        text, ids = parts.split((user.size(-1) - self.form.ids, self.form.ids), -1)
        found = {f"{name}_reviews": text[:, place].sum(-1) for place, name in enumerate(names)}
        if self.form.ids:
            found |= {f"{name}_ids": ids[:, place].sum(-1) for place, name in enumerate(names)}
        bias = self.head.bias if self.head.bias is not None else user.new_zeros(1)
        return {**found, "bias": bias.expand(len(user))}


def with_ids(text: Tensor, vectors: IdVectors | None, rows: Tensor | None) -> Tensor:
    """(B, D), (B,) -> (B, D + width of the ids); no rows: all are unknown."""
    if vectors is None:
        return text
    rows = torch.full((len(text),), UNKNOWN, device=text.device) if rows is None else rows
    return torch.cat((text, vectors(rows)), -1)


def build_towers(
    config: Model,
    words: int,
    dropout: float = 0.0,
    vectors: Tensor | None = None,
    form: Form = OURS,
    ids: Ids | None = None,
) -> TwoTowers:
    """A new model for this many word ids (0 is padding). Each tower is initialised like a classifier of three levels."""
    check_model(config, form)
    user, item = (build(config, words, 1, dropout, vectors) for _ in range(2))
    width = user.head.in_features + form.ids
    head = nn.Linear(width if form.head == "product" else 3 * width, 1, bias=config.head_bias)
    ids = ids or Ids()
    tables = (IdVectors(len(ids.users), form.ids), IdVectors(len(ids.items), form.ids)) if form.ids else None
    towers = Tower(list(user.levels)), Tower(list(item.levels))  # type: ignore[arg-type]
    return TwoTowers(user.embedding, *towers, head, dropout, form, tables)


def check_model(config: Model, form: Form) -> None:
    form.check()
    if config.levels != LEVELS:
        raise InputError(f"levels: expected 3 for two towers (words, sentences, reviews), got {config.levels}")
    if any(one.compresses for one in capabilities(config.pooling, config.levels)):
        raise InputError(f"pooling: expected one without rounds of training for two towers, got {config.pooling!r}")
    if config.head_hidden:
        raise InputError("head_hidden: expected False, because the head of two towers has no hidden layer, got True")
    if form.relu and not config.head_bias:
        raise InputError("head_bias: expected True with relu, because the bias starts at the mean rating, got False")
