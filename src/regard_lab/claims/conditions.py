"""From conditions such as "above 1" to a verdict: PROTOCOL.md, section 3, with the details of section 7.

A condition is satisfied if the whole interval lies on the claimed side, contradicted if it lies on the other, and open otherwise.
That all conditions are satisfied needs no correction for their number; anything less is corrected by Holm's method over the
conditions of the claim.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal, NamedTuple

from regard_lab.claims.verdicts import ALPHA, HOLDS, PARTLY, UNDECIDED, Given
from regard_lab.power import seeds_for, t_test_power
from regard_lab.rows import CellKey
from regard_lab.statistics import holm, mean_interval, standard_error, t_test

FEWEST = 3  # seeds; two that agree prove nothing


class Condition(NamedTuple):
    name: str
    text: str  # its numbers
    cell: CellKey
    side: int  # 1: satisfied; −1: contradicted; 0: open; without a correction
    p: float | None = None  # None: nothing to correct, as with counts
    n: int = 0
    needed: int | None = None  # seeds, if the observed difference is the true one


def from_values(name: str, text: str, cell: CellKey, values: Sequence[float]) -> Condition | None:
    """The condition that the mean of these values is above 0; None with a single value."""
    interval = mean_interval(values)
    if interval is None or interval.half is None:
        return None
    p = t_test(values)
    if p is None:  # the values do not vary
        p = 0.0 if interval.n >= FEWEST else 1.0
    side = 0 if p >= ALPHA else 1 if interval.mean > 0 else -1
    spread = standard_error(interval) * math.sqrt(interval.n)
    needed = seeds_for(partial(t_test_power, interval.mean, spread)) if side == 0 and spread and interval.mean else None
    return Condition(name, text, cell, side, p, interval.n, needed)


def seeds_to_leave(values: Sequence[float], low: float, high: float) -> int | None:
    """Seeds that put the whole interval on one side of the nearer bound (80 % power), if the observed mean is the true one."""
    interval = mean_interval(values)
    if interval is None or interval.half is None:
        return None
    effect = min((bound - interval.mean for bound in (low, high)), key=abs)
    spread = standard_error(interval) * math.sqrt(interval.n)
    return seeds_for(partial(t_test_power, effect, spread)) if effect and spread else None


def corrected_sides(conditions: Sequence[Condition]) -> list[int]:
    p = holm([condition.p for condition in conditions])
    return [
        condition.side if value is None or value < ALPHA else 0 for condition, value in zip(conditions, p, strict=True)
    ]


def judge(given: Given, conditions: Sequence[Condition], need: Literal["all", "most"] = "all") -> tuple[str, str, str]:
    """The verdict, why, and the seeds that would decide."""
    counted = [condition for condition in conditions if condition.cell[0] not in given.vacuous]
    total = len(counted)
    if total and all(condition.side > 0 for condition in counted):
        return HOLDS, "every condition is satisfied", ""
    sides = corrected_sides(counted)
    satisfied, contradicted = sides.count(1), sides.count(-1)
    why = f"{satisfied} of {total} satisfied and {contradicted} contradicted (Holm)"
    if need == "most" and 2 * satisfied > total:
        return HOLDS, why, ""
    if satisfied:
        return PARTLY, why, ""
    if total and 2 * contradicted >= total:
        return given.negative([condition.cell for condition in counted], opposite=True), why, ""
    return UNDECIDED, why, seeds_words([one for one, side in zip(counted, sides, strict=True) if not side])


def seeds_words(open_conditions: Sequence[Condition]) -> str:
    needed = [condition.needed for condition in open_conditions if condition.needed]
    if not needed:
        return ""
    numbers = f"{min(needed)}" if min(needed) == max(needed) else f"{min(needed)} to {max(needed)}"
    return f"seeds for 80 % power if the observed differences are the true ones: {numbers}"
