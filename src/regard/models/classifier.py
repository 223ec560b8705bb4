"""A text is a nested list; a level reads one axis (encoder) and pools that axis away (pooling).

One level is a flat model, two a HAN, three the user's reviews of the three-tier model; nothing else changes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.encoders import Encoder
from regard.encoders.affine import Affine
from regard.kernels.rows import inverse_index, take
from regard.models.tasks import LABEL
from regard.poolings import Pooling
from regard.poolings.perceptron import Perceptron
from regard.values import NO_TENSORS, Batch, Groups, Output, Pooled, Trace

# rows read together below the top: few on a CPU, which pays for padding; many on a GPU, which pays for every launch
GROUP = {"cpu": 64, "cuda": 512}


class Level(nn.Module):
    def __init__(self, encoder: Encoder, pooling: Pooling, dropout: float = 0.0):
        super().__init__()
        self.encoder, self.pooling = encoder, pooling
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor, groups: Groups | None = None) -> Trace:
        """(…, L, E), (…, L) -> Trace with the same leading axes"""
        if mask.ndim == 2:
            return self.read(x, mask)
        # Below the top most places of a batch are padding: sentences that a text doesn't have, words that a sentence
        # doesn't have. Read the real rows only, in groups of like length, each no wider than its longest.
        rows = mask.flatten(0, -2)
        groups = groups or like_lengths(rows.sum(-1))
        given = x.flatten(0, -3)
        traces = [
            self.read(take(given[:, :width], group, inverse_index(group, len(rows))), rows[group, :width])
            for group, width in groups
        ]
        return put_back(traces, torch.cat([group for group, _ in groups]), mask)

    def read(self, x: Tensor, mask: Tensor) -> Trace:
        encoded = self.encoder(x, mask)
        states = self.dropout(encoded.states)
        if not self.pooling.reads_summary:
            return self.pool(states, mask)
        return Trace(states, mask, self.pooling(states, mask, self.dropout(encoded.summary)))

    def pool(self, states: Tensor, mask: Tensor) -> Trace:
        return Trace(states, mask, self.pooling(states, mask))


def like_lengths(lengths: Tensor, size: int | None = None) -> Groups:
    """Row numbers of the rows that hold something, shortest first, in groups with the length of each group's longest.

    Of several models at once, (S, rows), groups are of one size and width: a model with fewer rows has some that are empty.
    """
    order = lengths.argsort(dim=-1, stable=True)
    empty = int((lengths == 0).sum(-1).min())
    first = min(empty, order.size(-1) - 1)  # where no row holds anything, one stands for them all
    groups = order[..., first:].split(size or GROUP.get(lengths.device.type, 512), -1)
    return tuple((group, max(int(lengths.gather(-1, group[..., -1:]).max()), 1)) for group in groups)


def put_back(traces: Sequence[Trace], rows: Tensor, mask: Tensor) -> Trace:
    """What was read of these rows at their places among all rows; where there is none, zeros."""
    *lead, length = mask.shape
    back = inverse_index(rows, math.prod(lead))

    def whole(parts: Sequence[Tensor]) -> Tensor:
        values = torch.cat(list(parts))
        return take(values, back, rows).view(*lead, *values.shape[1:])

    def widened(parts: Sequence[Tensor]) -> list[Tensor]:
        return [functional.pad(part, (0, 0) * (part.ndim - 2) + (0, length - part.size(1))) for part in parts]

    pooled = [trace.pooled for trace in traces]
    norms = [part.norm for part in pooled if part.norm is not None]
    return Trace(
        whole(widened([trace.states for trace in traces])),
        mask,
        Pooled(
            whole([part.vector for part in pooled]),
            whole(widened([part.weights for part in pooled])),
            whole(widened([part.scores for part in pooled])),
            # a norm a text is one a row that was read; the others are the same for all rows
            torch.cat(norms) if norms and norms[0].ndim == 2 else (norms[0] if norms else None),
            pooled[0].query,
        ),
    )


class Classifier(nn.Module):
    """Word vectors, levels, and a head (also of one output: a rating), linear or with a hidden layer.

    `others` are further heads by name: they read what the top level's bottleneck lets through.
    """

    def __init__(
        self,
        embedding: nn.Embedding,
        levels: Sequence[Level],
        head: nn.Linear | Perceptron,
        dropout: float = 0.0,
        others: Mapping[str, nn.Module] | None = None,
    ):
        super().__init__()
        self.embedding, self.levels = embedding, nn.ModuleList(levels)
        self.head: nn.Linear | Any = head  # whoever reads its weight asks first whether it is linear
        self.other_heads = nn.ModuleDict(others or {})
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, batch: Batch, embedded: Tensor | None = None, head: str = LABEL, states: Tensor | None = None
    ) -> Output:
        """`embedded` stands in for the word vectors: the only door that gradient explainers need. `states` (B, L, D), with
        a batch whose mask is theirs, stand in for all that lies below the top level's pooling. `head` says whose logits."""
        traces = (
            self.read(batch, embedded) if states is None else (cast(Level, self.levels[-1]).pool(states, batch.mask),)
        )
        top = traces[-1].pooled
        logits = {LABEL: self.head(top.vector)}
        if self.other_heads:
            logits |= {name: other(top.compressed) for name, other in self.other_heads.items()}
        terms = {**self.terms(top), **top.terms}
        return Output(logits[head], traces, terms, logits if self.other_heads else NO_TENSORS)

    def read(self, batch: Batch, embedded: Tensor | None = None) -> tuple[Trace, ...]:
        """What each level saw and did, words first."""
        x = self.dropout(self.embedding(batch.ids) if embedded is None else embedded)  # (B, …, W, E)
        mask, traces = batch.mask, []
        for number, level in enumerate(self.levels):
            traces.append(level(x, mask, batch.groups[number] if number < len(batch.groups) else None))
            x, mask = traces[-1].pooled.vector, mask.any(-1)
        return tuple(traces)

    def is_above_states(self, name: str) -> bool:
        """Whether a weight lies above the top level's states, so that these don't change where it does."""
        return name.startswith((f"levels.{len(self.levels) - 1}.pooling.", "head.", "other_heads."))

    def terms(self, top: Pooled) -> dict[str, Tensor]:
        """(VᵀW)², where the top attention is a plain product (Sun & Lu's penalty); over a single affine layer M also
        (W'ᵀV')², W' = MᵀW and V' = MᵀV (their supplement, Figure 9)."""
        if top.query is None or not isinstance(self.head, nn.Linear):
            return {}
        found = {"vtw": (self.head.weight @ top.query).square().sum()}
        encoder = self.levels[0].encoder
        if len(self.levels) == 1 and isinstance(encoder, Affine):
            m = encoder.map.weight  # (D, E)
            found["vtw_mapped"] = ((self.head.weight @ m) @ (top.query @ m)).square().sum()
        return found
