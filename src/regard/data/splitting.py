"""Holding a part of the training texts out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from regard.records import Example

FEWEST = 10  # below this many texts nothing is held out: there would be too little to learn from, and nothing to see


def hold_out(
    examples: Sequence[Example], fraction: float, seed: int, by_label: bool
) -> tuple[list[Example], list[Example]]:
    """(kept, held out), both in the order given; each label in proportion where `by_label`, and never all of one."""
    if fraction == 0 or len(examples) < FEWEST:
        return list(examples), []
    groups: dict[str | float | None, list[int]] = defaultdict(list)
    for row, example in enumerate(examples):
        groups[example.label if by_label else None].append(row)
    chance = np.random.default_rng((seed, 7919))
    out: set[int] = set()
    owed = 0.0  # what small groups could not give is owed by the next, so that the fraction comes out right
    for rows in groups.values():
        owed += fraction * len(rows)
        count = min(round(owed), len(rows) - 1)
        owed -= count
        out.update(chance.permutation(rows)[:count].tolist())
    return [x for row, x in enumerate(examples) if row not in out], [examples[row] for row in sorted(out)]
