"""A text is a nested list; each level reads one axis (encoder) and reduces it to a vector (pooling).

One level is a flat model, two are a HAN, three also read the reviews of a user (the three-tier model).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from regard.encoders import Affine, Encoder
from regard.kernels.rows import inverse_index, take
from regard.models.tasks import LABEL
from regard.poolings import Pooling
from regard.poolings.perceptron import Perceptron
from regard.values import NO_TENSORS, Batch, Groups, Output, Pooled, Trace

# rows read together below the top level: few on a CPU, where padding is expensive; many on a GPU, where launches are
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
        # Below the top level most positions of a batch are padding: missing sentences, and missing words in sentences.
        # Read only the real rows, in groups of similar length, each no wider than its longest row.
        groups = groups or groups_of(mask)
        inputs = x.flatten(0, -3)
        back = [inverse_index(group, len(inputs)) for group, _ in groups]
        parts = (take(inputs[:, :width], group, to) for (group, width), to in zip(groups, back, strict=True))
        return self.read_groups(parts, mask, groups)

    def read_groups(self, parts: Iterable[Tensor], mask: Tensor, groups: Groups) -> Trace:
        """Like `forward` for inputs that are divided into groups of rows already: (rows, width, E) each."""
        rows = mask.flatten(0, -2)
        traces = [self.read(part, rows[group, :width]) for part, (group, width) in zip(parts, groups, strict=True)]
        return put_back(traces, torch.cat([group for group, _ in groups]), mask)

    def read(self, x: Tensor, mask: Tensor) -> Trace:
        encoded = self.encoder(x, mask)
        states = self.dropout(encoded.states)
        if not self.pooling.reads_summary:
            return self.pool(states, mask)
        return Trace(states, mask, self.pooling(states, mask, self.dropout(encoded.summary)))

    def pool(self, states: Tensor, mask: Tensor) -> Trace:
        return Trace(states, mask, self.pooling(states, mask))


def groups_of(mask: Tensor) -> Groups:
    return group_by_length(mask.flatten(0, -2).sum(-1))


def group_levels(batch: Batch, levels: int, group: Callable[[Tensor], Groups]) -> Batch:
    """Add the groups of rows that each level below the top reads together. A batch of several models has their axis first."""
    models, mask, groups = batch.mask.ndim - levels - 1, batch.mask, []
    for _ in range(levels - 1):
        groups.append(group(mask.sum(-1).flatten(models)))
        mask = mask.any(-1)
    return batch._replace(groups=tuple(groups))


def group_by_length(
    lengths: Tensor,
    size: int | None = None,
    round_rows: Callable[[int], int] = int,
    round_width: Callable[[int], int] = int,
) -> Groups:
    """Groups of non-empty rows, shortest first: (row indices, length of the longest row), both rounded up as asked.

    For several stacked models, (S, rows), all models get groups of one size and width. Where one has fewer rows, or their
    number is rounded up, empty rows come first.
    """
    most = max(int((lengths > 0).sum(-1).max()), 1)  # if all rows are empty, keep one
    count = min(round_rows(most), lengths.size(-1))
    groups = lengths.argsort(dim=-1, stable=True)[..., -count:].split(size or GROUP.get(lengths.device.type, 512), -1)
    longest = (max(int(lengths.gather(-1, group[..., -1:]).max()), 1) for group in groups)
    return tuple((group, round_width(width)) for group, width in zip(groups, longest, strict=True))


def ids_by_group(batch: Batch) -> Tensor:
    """The ids of all rows that the lowest level reads, group after group, (words,) or (S, words) for several models.

    Most of the batch itself, (B, …, W), is padding.
    """
    groups = batch.groups[0]
    rows = batch.ids.flatten(groups[0][0].ndim - 1, -2)  # (rows, W) or (S, rows, W)
    parts = (rows[..., :width].gather(-2, group.unsqueeze(-1).expand(*group.shape, width)) for group, width in groups)
    return torch.cat([part.flatten(-2) for part in parts], -1)


def split_by_group(words: Tensor, groups: Groups) -> Iterator[Tensor]:
    """(words, E), in the order of `ids_by_group` -> (rows, width, E) of each group"""
    parts = words.split([len(group) * width for group, width in groups])
    return (part.unflatten(0, (-1, width)) for part, (_, width) in zip(parts, groups, strict=True))


def put_back(traces: Sequence[Trace], rows: Tensor, mask: Tensor) -> Trace:
    """Merge the traces of groups, with these row indices, into one trace with the shape of `mask`; other rows are zero."""
    *lead, length = mask.shape
    back = inverse_index(rows, math.prod(lead))

    def restore(parts: Sequence[Tensor]) -> Tensor:
        values = torch.cat(list(parts))
        return take(values, back, rows).view(*lead, *values.shape[1:])

    def pad_all(parts: Sequence[Tensor]) -> list[Tensor]:
        return [functional.pad(part, (0, 0) * (part.ndim - 2) + (0, length - part.size(1))) for part in parts]

    pooled = [trace.pooled for trace in traces]
    norms = [part.norm for part in pooled if part.norm is not None]
    return Trace(
        lambda: restore(pad_all([trace.states for trace in traces])),
        mask,
        Pooled(
            restore([part.vector for part in pooled]),
            restore(pad_all([part.weights for part in pooled])),
            restore(pad_all([part.scores for part in pooled])),
            # a norm per text has one entry per row; other norms are the same in all groups
            torch.cat(norms) if norms and norms[0].ndim == 2 else (norms[0] if norms else None),
            pooled[0].query,
        ),
    )


class Classifier(nn.Module):
    """Word embeddings, levels and a head (with one output for regression), linear or with a hidden layer.

    `others` are further heads by name, which read the output of the top level's bottleneck.
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
        self.head: nn.Linear | Any = head  # check that it is linear before reading its weight
        self.other_heads = nn.ModuleDict(others or {})
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, batch: Batch, embedded: Tensor | None = None, head: str = LABEL, states: Tensor | None = None
    ) -> Output:
        """`embedded` replaces the word embeddings, which is all that gradient explainers need; it is (B, …, W, E), or (words, E)
        with the words of `ids_by_group`. `states` (B, L, D), with their mask in the batch, replace everything below the top
        level's pooling. `head` selects the logits returned."""
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
        """The traces of all levels, words first."""
        lowest, *others = cast(Sequence[Level], self.levels)
        if others and not batch.groups:
            batch = batch._replace(groups=(groups_of(batch.mask),))
        groups: list[Groups | None] = [*batch.groups, *[None] * len(self.levels)]
        if embedded is None:
            embedded = self.embedding(ids_by_group(batch) if others else batch.ids)
        x, mask = self.dropout(embedded), batch.mask
        if x.ndim > mask.ndim:
            traces = [lowest(x, mask, groups[0])]
        else:
            traces = [lowest.read_groups(split_by_group(x, batch.groups[0]), mask, batch.groups[0])]
        for level, own in zip(others, groups[1:], strict=False):
            mask = mask.any(-1)
            traces.append(level(traces[-1].pooled.vector, mask, own))
        return tuple(traces)

    def is_above_states(self, name: str) -> bool:
        """Whether a parameter lies above the top level's states, so that the states do not depend on it."""
        return name.startswith((f"levels.{len(self.levels) - 1}.pooling.", "head.", "other_heads."))

    def terms(self, top: Pooled) -> dict[str, Tensor]:
        """(VᵀW)² if the top attention is a plain dot product (Sun & Lu's penalty); with a single affine layer M also
        (W'ᵀV')² with W' = MᵀW and V' = MᵀV (their supplement, Figure 9)."""
        if top.query is None or not isinstance(self.head, nn.Linear):
            return {}
        penalties = {"vtw": (self.head.weight @ top.query).square().sum()}
        encoder = self.levels[0].encoder
        if len(self.levels) == 1 and isinstance(encoder, Affine):
            m = encoder.map.weight  # (D, E)
            penalties["vtw_mapped"] = ((self.head.weight @ m) @ (top.query @ m)).square().sum()
        return penalties
