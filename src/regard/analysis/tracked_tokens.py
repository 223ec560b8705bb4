"""The tokens tracked during training: selected tokens, those that represent their types, and a sample of texts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.token_types import TokenTypes
from regard.data.unit_texts import UnitTexts

Numbers = NDArray[np.int64]

CHOSEN = 600  # tokens that are recorded one by one
TEXTS, UNITS = 500, 50_000  # most texts and units of the sample
PULLED = 2000  # tokens of each type for which the pull of these texts is computed


class TrackedTokens(NamedTuple):
    """Tokens by their index in `rows`: no other embeddings are read.

    The rows begin with the tokens that represent their types, type by type, so that a type is a slice; the last ones are
    needed only by the sample of texts.
    """

    rows: Numbers  # (R,) ids of units
    few: int  # number of rows without those that only the texts need
    bounds: Numbers  # (G + 1,) bounds of each type's rows
    codes: list[int]  # (G,) the types that have tokens, by number
    names: list[str]  # (G,) and by name
    chosen: Numbers  # (T,) indices
    types: list[str]  # (T,) of the selected tokens
    pulled: list[Numbers]  # (G,) indices
    texts: UnitTexts  # with indices instead of ids

    @property
    def slices(self) -> list[slice]:
        return [slice(start, stop) for start, stop in itertools.pairwise(self.bounds.tolist())]


def track_tokens(types: TokenTypes, texts: UnitTexts, most: int | None, pulls: bool) -> TrackedTokens:
    """`most` tokens per type (None: all, 0: the selected ones); a sample of texts if `pulls` are computed.

    The same in every run over the same texts.
    """
    rng = np.random.default_rng(0)
    groups = {code: units for code in range(len(types.names)) if len(units := np.flatnonzero(types.codes == code))}
    chosen = most_frequent(list(groups.values()), types.counts.sum(1), CHOSEN)
    if most == 0:
        members = [chosen[types.codes[chosen] == code] for code in groups]
    else:
        members = [units if most is None else sampled(units, most, rng) for units in groups.values()]
    sample = select_texts(texts, sample_texts(texts, rng) if pulls else np.empty(0, dtype=np.int64))
    rows = np.concatenate([np.empty(0, dtype=np.int64), *members])
    rows = np.concatenate([rows, without(chosen, rows, len(types.codes))])
    few = len(rows)
    rows = np.concatenate([rows, without(sample.ids, rows, len(types.codes))])
    index = np.zeros(len(types.codes), dtype=np.int64)
    index[rows] = np.arange(len(rows))
    return TrackedTokens(
        rows,
        few,
        np.cumsum([0, *map(len, members)]),
        list(groups),
        [types.names[code] for code in groups],
        index[chosen],
        [types.names[types.codes[unit]] for unit in chosen],
        [index[sampled(group, PULLED, rng)] for group in members],
        sample._replace(ids=index[sample.ids].astype(np.int32)),
    )


def without(numbers: NDArray[np.integer], others: Numbers, units: int) -> Numbers:
    """The distinct numbers that are not among the others."""
    wanted = np.zeros(units, dtype=bool)
    wanted[numbers] = True
    wanted[others] = False
    return np.flatnonzero(wanted)


def sampled(numbers: Numbers, most: int, rng: np.random.Generator) -> Numbers:
    return numbers if len(numbers) <= most else np.sort(rng.choice(numbers, most, replace=False))


def sample_texts(texts: UnitTexts, rng: np.random.Generator) -> Numbers:
    """Random texts up to the size of the sample, but at least one."""
    order = rng.permutation(len(texts.labels))[:TEXTS]
    units = np.cumsum(np.diff(texts.offsets)[order])
    return np.sort(order[: max(1, int(np.searchsorted(units, UNITS, "right")))])


def most_frequent(groups: Sequence[Numbers], counts: Numbers, most: int) -> Numbers:
    """The most frequent units in equal parts of each group; what a small group leaves over goes to the others."""
    kept = [np.empty(0, dtype=np.int64)]
    left = most
    for after, group in enumerate(sorted(groups, key=len), 1 - len(groups)):
        kept.append(group[np.argsort(-counts[group], kind="stable")][: left // (1 - after)])
        left -= len(kept[-1])
    return np.sort(np.concatenate(kept))


def select_texts(texts: UnitTexts, rows: Numbers) -> UnitTexts:
    """The texts of these rows."""
    lengths = np.diff(texts.offsets)[rows]
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    positions = np.repeat(texts.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return UnitTexts(texts.ids[positions], texts.counts[positions], offsets, texts.labels[rows])
