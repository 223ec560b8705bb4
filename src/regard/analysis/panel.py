"""Whom a recorder looks at along training: chosen tokens, those that stand for their types, and a sample of texts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.analysis.token_types import TokenTypes
from regard.data.unit_texts import UnitTexts

Numbers = NDArray[np.int64]

CHOSEN = 600  # tokens that are followed one by one
TEXTS, UNITS = 500, 50_000  # of the sample, whichever comes first
PULLED = 2000  # tokens of each type at which the pull of these texts is looked at


class Panel(NamedTuple):
    """Tokens by their places in `rows`: nothing else of the embeddings is ever looked at.

    The rows begin with the tokens that stand for their types, type after type, so that a type is a slice; last are those
    that only the sample of texts needs.
    """

    rows: Numbers  # (R,) numbers of units
    few: int  # how many of them do without the texts
    bounds: Numbers  # (G + 1,) where each type's rows begin and end
    codes: list[int]  # (G,) the types that have tokens, by number
    names: list[str]  # (G,) and by name
    chosen: Numbers  # (T,) places
    types: list[str]  # (T,) of the chosen ones
    pulled: list[Numbers]  # (G,) places
    texts: UnitTexts  # of places instead of numbers

    @property
    def slices(self) -> list[slice]:
        return [slice(start, stop) for start, stop in itertools.pairwise(self.bounds.tolist())]


def panel(types: TokenTypes, texts: UnitTexts, most: int | None, pulls: bool) -> Panel:
    """`most` tokens for each type (None: all, 0: the chosen ones); texts where their pull is wanted.

    The same in every run over the same texts.
    """
    chance = np.random.default_rng(0)
    groups = {code: found for code in range(len(types.names)) if len(found := np.flatnonzero(types.codes == code))}
    chosen = most_frequent(list(groups.values()), types.counts.sum(1), CHOSEN)
    if most == 0:
        own = [chosen[types.codes[chosen] == code] for code in groups]
    else:
        own = [found if most is None else drawn(found, most, chance) for found in groups.values()]
    sample = taken(texts, some(texts, chance) if pulls else np.empty(0, dtype=np.int64))
    rows = np.concatenate([np.empty(0, dtype=np.int64), *own])
    rows = np.concatenate([rows, without(chosen, rows, len(types.codes))])
    few = len(rows)
    rows = np.concatenate([rows, without(sample.ids, rows, len(types.codes))])
    place = np.zeros(len(types.codes), dtype=np.int64)
    place[rows] = np.arange(len(rows))
    return Panel(
        rows,
        few,
        np.cumsum([0, *map(len, own)]),
        list(groups),
        [types.names[code] for code in groups],
        place[chosen],
        [types.names[types.codes[unit]] for unit in chosen],
        [place[drawn(group, PULLED, chance)] for group in own],
        sample._replace(ids=place[sample.ids].astype(np.int32)),
    )


def without(numbers: NDArray[np.integer], others: Numbers, units: int) -> Numbers:
    """Each number once that isn't among the others."""
    wanted = np.zeros(units, dtype=bool)
    wanted[numbers] = True
    wanted[others] = False
    return np.flatnonzero(wanted)


def drawn(numbers: Numbers, most: int, chance: np.random.Generator) -> Numbers:
    return numbers if len(numbers) <= most else np.sort(chance.choice(numbers, most, replace=False))


def some(texts: UnitTexts, chance: np.random.Generator) -> Numbers:
    """Texts by chance, as many as the sample may have, but at least one."""
    order = chance.permutation(len(texts.labels))[:TEXTS]
    units = np.cumsum(np.diff(texts.offsets)[order])
    return np.sort(order[: max(1, int(np.searchsorted(units, UNITS, "right")))])


def most_frequent(groups: Sequence[Numbers], places: Numbers, most: int) -> Numbers:
    """In equal parts of each group; what a small group leaves over goes to the others."""
    kept = [np.empty(0, dtype=np.int64)]
    left = most
    for after, group in enumerate(sorted(groups, key=len), 1 - len(groups)):
        kept.append(group[np.argsort(-places[group], kind="stable")][: left // (1 - after)])
        left -= len(kept[-1])
    return np.sort(np.concatenate(kept))


def taken(texts: UnitTexts, rows: Numbers) -> UnitTexts:
    """Some of the texts."""
    lengths = np.diff(texts.offsets)[rows]
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    places = np.repeat(texts.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return UnitTexts(texts.ids[places], texts.counts[places], offsets, texts.labels[rows])
