"""Verdicts on claims that there is no difference, or no gain: equivalence must be shown, absence of proof is not enough."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from regard_lab.claims.differences import Difference, Family, describe, effect_of, make_family, over_texts
from regard_lab.claims.verdicts import ALPHA, HOLDS, PARTLY, UNDECIDED, Finding, Given, several
from regard_lab.measures import Measure
from regard_lab.pooled_effect import pool
from regard_lab.power import MOST, equivalence_power, seeds_for
from regard_lab.statistics import standard_error


def judge_equality(given: Given, tests: Sequence[Difference], measure: Measure, planned: int) -> Finding | None:
    family = make_family(tests)
    if family is None:
        return None
    within, different = [test for test in family.tests if is_within(test)], family.confirmed + family.opposed
    pooled = family.pooled
    apart = pooled is not None and (pooled.low > 0 or pooled.high < 0) and abs(pooled.mean) >= family.margin
    words = f"{len(within)} of {several(len(family.tests), 'comparison')} within the margin, {different} confirmed to differ"
    if pooled is not None and pooled.is_equivalent(family.margin) and not different:
        verdict = HOLDS
    elif within:
        verdict = PARTLY
    elif different or apart:
        verdict = given.negative([cell for test in family.tests for cell in test.cells], opposite=True)
        words += ", and the pooled interval excludes 0" if apart else ""
    else:
        verdict = UNDECIDED
    return complete_finding(given, family, measure, planned, (verdict, words))


def judge_no_gain(given: Given, tests: Sequence[Difference], measure: Measure, planned: int) -> Finding | None:
    family = make_family(tests)
    if family is None:
        return None
    small = [test for test in family.tests if is_small(test)]
    words = f"{len(small)} of {several(len(family.tests), 'gain')} below the margin, {family.confirmed} confirmed"
    if family.pooled is not None and family.margin and family.pooled.is_below(family.margin) and not family.confirmed:
        verdict, words = HOLDS, f"the pooled gain is below the margin; {words}"
    elif family.confirmed:
        cells = [cell for test in family.tests for cell in test.cells]
        verdict = PARTLY if small else given.negative(cells, opposite=True)
    else:
        verdict = PARTLY if small else UNDECIDED
    return complete_finding(given, family, measure, planned, (verdict, words))


def is_within(test: Difference) -> bool:
    """Two one-sided tests of one comparison."""
    single = pool([effect_of(test)])
    return single is not None and single.is_equivalent(test.unit * test.margin)


def is_small(test: Difference) -> bool:
    """One one-sided test of one comparison: its gain is below the margin."""
    single = pool([effect_of(test)])
    return single is not None and test.margin > 0 and single.is_below(test.unit * test.margin)


def complete_finding(given: Given, family: Family, measure: Measure, planned: int, judged: tuple[str, str]) -> Finding:
    verdict, why = judged
    needed = seeds_for_equivalence(family) if verdict == UNDECIDED else ""
    measured, texts = describe(family, measure, ALPHA, planned), over_texts(given, family.tests, measure)
    return Finding(verdict, measured, why, family.pooled, family.paper, family.margin, needed, texts)


def seeds_for_equivalence(family: Family) -> str:
    needed = []
    for test in family.tests:
        difference = test.paired.difference
        spread = standard_error(difference) * difference.n**0.5
        if test.margin and spread:
            needed.append(seeds_for(partial(equivalence_power, test.margin, spread)) or MOST + 1)
    if not needed:
        return ""
    low, high = (f"more than {MOST}" if count > MOST else str(count) for count in (min(needed), max(needed)))
    return (
        f"seeds for 80 % power of equivalence if there is no difference: {low if low == high else f'{low} to {high}'}"
    )
