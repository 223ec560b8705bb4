"""The tensors that packages exchange, and the legend of their shapes.

B texts · R parts (reviews) per text · S sentences · W words · N rows of a level (B, B·S or B·R·S) · L length of the
axis that a level reads · E input width · D width of the states · C outputs of the head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from torch import Tensor
from torch.fx.immutable_collections import immutable_dict

# shared, therefore immutable; of a type that pytree-based tools such as `torch.export` can flatten
NO_TENSORS: Mapping[str, Tensor] = immutable_dict()

Groups = tuple[tuple[Tensor, int], ...]  # rows of a level that are read together: (row indices, width)


class Batch(NamedTuple):
    """Word ids of texts, one axis per level: words; sentences and words; or parts, sentences and words."""

    ids: Tensor  # (B, W), (B, S, W) or (B, R, S, W), 0 on padding
    mask: Tensor  # same shape, True = real; real positions come first on every axis
    labels: Tensor | None = None  # (B,) class indices or normalised targets, or (B, C) 0 and 1 for several labels
    groups: tuple[Groups, ...] = ()  # per level below the top, if precomputed; otherwise the level computes them
    weights: Tensor | None = None  # (B,) factors of the texts' losses; None: all 1


class Pair(NamedTuple):
    """Input of the two towers: reviews of a user and of an item, (B, R, S, W) each; R, S and W may differ."""

    user: Batch
    item: Batch
    labels: Tensor | None = None  # (B,) normalised ratings; the batches themselves have no labels
    ids: Tensor | None = (
        None  # (B, 2) rows of the user and of the item in tables of ids, −1 for an unknown one; None: all
    )


class Encoded(NamedTuple):
    """Output of an encoder."""

    states: Tensor  # (N, L, D), zero on padding
    summary: Tensor | None = None  # (N, D) whole-row summary, if the encoder has one ([CLS]); zero for an empty row


class Pooled(NamedTuple):
    """Output of a pooling. A row without real tokens gives zeros everywhere."""

    vector: Tensor  # (N, D)
    weights: Tensor  # (N, L) ≥ 0, sum to 1 over real tokens, exactly 0 on padding
    scores: Tensor  # (N, L) unnormalised scores behind the weights, 0 on padding
    norm: Tensor | None = None  # (), (D,) or (N, 1): the norm p in use, if the pooling has one
    query: Tensor | None = None  # (D,) the query V, if scores are plain dot products with it
    compressed: Tensor | None = None  # (N, D) output of the bottleneck, if there is one
    terms: Mapping[str, Tensor] = NO_TENSORS  # penalties that the pooling adds, by name, each ()


class Trace:
    """Input and output of one level's pooling, with the leading axes of the batch restored.

    `states` may be a function that restores them: they are large, and training does not look at them.
    """

    def __init__(self, states: Tensor | Callable[[], Tensor], mask: Tensor, pooled: Pooled) -> None:
        self.mask, self.pooled = mask, pooled  # (…, L)
        self._states = states

    @cached_property
    def states(self) -> Tensor:
        """(…, L, D)"""
        return self._states() if callable(self._states) else self._states


class Output(NamedTuple):
    """Output of a model, with everything that explainers need."""

    logits: Tensor  # (B, C)
    traces: tuple[Trace, ...]  # words first
    terms: Mapping[str, Tensor]  # penalties by name, each (); the training loop weights them
    heads: Mapping[str, Tensor] = NO_TENSORS  # logits of every head by name, if there are several

    @property
    def word_weights(self) -> Tensor:
        """The share of each word in the whole text: the product of the weights down the levels, shaped like the ids."""
        weights = self.traces[-1].pooled.weights
        for trace in reversed(self.traces[:-1]):
            weights = weights.unsqueeze(-1) * trace.pooled.weights
        return weights
