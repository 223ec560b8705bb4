"""The tensors that cross rooms, and the one legend of their shapes.

B texts · R parts (reviews) of a text · S sentences · W words · N rows of a level (B, B·S or B·R·S) · L length of the
axis that a level reads · E width coming in · D width of the states · C outputs of the head.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from torch import Tensor
from torch.fx.immutable_collections import immutable_dict

# one for all, so nobody may write into it; and of a kind that `torch.export` and its like know how to take apart
NONE: Mapping[str, Tensor] = immutable_dict()

Groups = tuple[tuple[Tensor, int], ...]  # rows of a level that are read together: their numbers, and how wide they are


class Batch(NamedTuple):
    """Texts of word ids. One axis per level: words; sentences and words; parts, sentences and words."""

    ids: Tensor  # (B, W), (B, S, W) or (B, R, S, W), 0 on padding
    mask: Tensor  # the same shape, True = real; real ones come first on every axis
    labels: Tensor | None = None  # (B,) class numbers (long) or normalised targets (float)
    groups: tuple[Groups, ...] = ()  # for each level below the top, where they are known; else the level finds them


class Pair(NamedTuple):
    """What two towers read: a user's reviews and an item's, (B, R, S, W) each, R, S and W their own."""

    user: Batch
    item: Batch
    labels: Tensor | None = None  # (B,) normalised ratings; the batches have none of their own


class Encoded(NamedTuple):
    """What an encoder made of rows of vectors."""

    states: Tensor  # (N, L, D), zero on padding
    summary: Tensor | None = None  # (N, D) of the whole row, where the encoder has one ([CLS]); zero of an empty row


class Pooled(NamedTuple):
    """What a pooling made of rows of states. A row without a real token gives zeros everywhere."""

    vector: Tensor  # (N, D)
    weights: Tensor  # (N, L) ≥ 0, sum to 1 over real tokens, exactly 0 on padding
    scores: Tensor  # (N, L) the evidence behind the weights before they compete, 0 on padding
    norm: Tensor | None = None  # (), (D,) or (N, 1): the norm p in use, where the pooling has one
    query: Tensor | None = None  # (D,) the direction V that scores are products with, where they are plain products
    compressed: Tensor | None = None  # (N, D) what a bottleneck lets through, where there is one
    terms: Mapping[str, Tensor] = NONE  # penalties of the pooling's own by name, each ()


class Trace(NamedTuple):
    """What one level saw and did, with the leading axes of the batch put back."""

    states: Tensor  # (…, L, D)
    mask: Tensor  # (…, L)
    pooled: Pooled


class Output(NamedTuple):
    """A model's answer with everything that an explainer could want."""

    logits: Tensor  # (B, C)
    traces: tuple[Trace, ...]  # words first
    terms: Mapping[str, Tensor]  # penalties by name, each (), to be weighted by whoever trains
    heads: Mapping[str, Tensor] = NONE  # the logits of every head by name, where there are several

    @property
    def word_weights(self) -> Tensor:
        """The share of each word in the whole text: the product down the levels, shaped like the ids."""
        weights = self.traces[-1].pooled.weights
        for trace in reversed(self.traces[:-1]):
            weights = weights.unsqueeze(-1) * trace.pooled.weights
        return weights
