"""Holding a part of the training texts out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.records import Example

FEWEST = 10  # below this many texts nothing is held out: there would be too little to learn from, and nothing to see


def hold_out(
    examples: Sequence[Example], fraction: float, seed: int, by_label: bool
) -> tuple[list[Example], list[Example]]:
    """(kept, held out), both in the order given; each label in proportion where `by_label`, and never all of one."""
    codes: dict[str | float | None, int] = {}
    groups = [codes.setdefault(example.label if by_label else None, len(codes)) for example in examples]
    out = held_rows(np.array(groups, dtype=np.int32), fraction, seed)
    pairs = list(zip(examples, out, strict=True))
    return [example for example, held in pairs if not held], [example for example, held in pairs if held]


def held_rows(groups: NDArray[np.int32], fraction: float, seed: int) -> NDArray[np.bool_]:
    """Which rows are held out: a part of each group, never all of one. Groups are numbered as they come first."""
    out = np.zeros(len(groups), dtype=bool)
    if fraction == 0 or len(groups) < FEWEST:
        return out
    chance = np.random.default_rng((seed, 7919))
    order = np.argsort(groups, kind="stable")
    owed = 0.0  # what small groups could not give is owed by the next, so that the fraction comes out right
    for rows in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        owed += fraction * len(rows)
        count = min(round(owed), len(rows) - 1)
        owed -= count
        out[chance.permutation(rows)[:count]] = True
    return out
