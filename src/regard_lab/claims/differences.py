"""From paired differences to a verdict: PROTOCOL.md, section 3.

Every claim is one family: its differences are pooled (random effects) and corrected together (Holm). A difference is positive if
it favours the claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Literal, NamedTuple

from regard_lab.claims.verdicts import (
    ALPHA,
    HOLDS,
    PARTLY,
    UNDECIDED,
    Finding,
    Given,
    several,
    span,
)
from regard_lab.comparisons import p_text
from regard_lab.measures import Measure, shown, signed
from regard_lab.over_texts import compare_over_texts
from regard_lab.pooled_effect import Effect, Pooled, pool
from regard_lab.power import MOST, seeds_for, t_test_power
from regard_lab.rows import CellKey
from regard_lab.statistics import Paired, holm, standard_error

Need = Literal["half", "all", "significant"]


class Difference(NamedTuple):
    """A mean difference, positive if it favours the claim, and its name."""

    name: str
    paired: Paired
    cells: tuple[CellKey, ...] = ()
    paper: float | None = None  # the difference of the printed numbers
    margin: float = 0.0  # 0: none was set in advance
    unit: float = 1.0  # multiplied by this before it is pooled
    measure: str = ""  # if it is the difference of one measure between two cells
    side: int = 1  # −1: smaller values of the measure favour the claim

    @property
    def mean(self) -> float:
        return self.paired.difference.mean


class Family(NamedTuple):
    """The tests of a claim, corrected and pooled together."""

    tests: Sequence[Difference]
    sides: Sequence[int]  # 1: confirmed in favour; −1: confirmed against; 0: neither
    pooled: Pooled | None
    paper: float | None
    margin: float

    @property
    def favour(self) -> int:
        return sum(test.mean > 0 for test in self.tests)

    @property
    def confirmed(self) -> int:
        return self.sides.count(1)

    @property
    def opposed(self) -> int:
        return self.sides.count(-1)


def make_family(tests: Sequence[Difference], alpha: float = ALPHA) -> Family | None:
    """None without a test of two or more seeds: a single difference cannot be tested."""
    tests = [test for test in tests if test.paired.p is not None]
    if not tests:
        return None
    pooled = pool([effect_of(test) for test in tests])
    printed = [test.unit * test.paper for test in tests if test.paper is not None]
    margins = [test.unit * test.margin for test in tests]
    margin = fmean(margins) if all(margins) else 0.0
    return Family(tests, sides(tests, alpha), pooled, fmean(printed) if printed else None, margin)


def effect_of(test: Difference) -> Effect:
    difference = test.paired.difference
    return Effect(test.unit * difference.mean, (test.unit * standard_error(difference)) ** 2, max(difference.n - 1, 1))


def sides(tests: Sequence[Difference], alpha: float = ALPHA) -> list[int]:
    """1: confirmed in favour; −1: confirmed against; 0: neither. Corrected over all tests."""
    corrected = holm([test.paired.p for test in tests])
    return [
        (1 if test.mean > 0 else -1) if p is not None and p < alpha else 0
        for test, p in zip(tests, corrected, strict=True)
    ]


def judge(given: Given, family: Family, need: Need = "half") -> tuple[str, str]:
    """The verdict on a claim of the kind "A beats B", and why. The conditions are tried in the order of the protocol: holds,
    partly, refuted, undecided."""
    pooled, opposite = family.pooled, family.opposed > 0 or (family.pooled is not None and family.pooled.high < 0)
    count, confirmed = len(family.tests), family.confirmed
    enough = {
        "half": True,
        "all": family.favour == count and 2 * confirmed >= count,
        "significant": confirmed == count,
    }
    above = pooled is not None and pooled.low > 0 and pooled.mean >= family.margin
    if above and not family.opposed and enough[need]:
        return HOLDS, "the pooled interval lies above 0" + (", its mean above the margin" if family.margin else "")
    negative, against = "", ""
    if pooled is not None and excludes_paper(family):
        cell_keys = [cell_key for test in family.tests for cell_key in test.cells]
        equivalent = pooled.is_equivalent(family.margin)
        if opposite or equivalent:
            shown_too = [opposite_words(family)] if opposite else []
            shown_too += ["equivalence is shown"] if equivalent else []
            negative, against = given.negative(cell_keys, opposite), ", and ".join([excluded(family), *shown_too])
    if confirmed:
        why = f"{confirmed} of {count} confirmed, " + why_not(family, need, enough[need])
        both = f"; the order decides: “{negative}” would apply too, because {against}" if negative else ""
        return PARTLY, why + both
    return (negative, against) if negative else (UNDECIDED, why_undecided(family))


def why_not(family: Family, need: Need, enough: bool) -> str:
    if family.opposed:
        return f"{family.opposed} in the opposite direction"
    if family.pooled is None or family.pooled.low <= 0:
        return "but the pooled interval includes 0"
    if family.pooled.mean < family.margin:
        return "but the pooled mean is below the margin"
    assert not enough
    return "but the claim says “all”" if need == "all" else "but the claim says “significant” of every one"


def excludes_paper(family: Family) -> bool:
    """Without printed numbers the paper's effect is at least the margin; without a margin, above 0."""
    assert family.pooled is not None
    if family.paper is None or family.paper <= 0:
        return family.pooled.high < family.margin if family.margin else family.pooled.high < 0
    return not family.pooled.low <= family.paper <= family.pooled.high


def opposite_words(family: Family) -> str:
    if not family.opposed:
        return "lies below 0"
    return f"{several(family.opposed, 'comparison')} confirmed in the opposite direction"


def excluded(family: Family) -> str:
    if family.paper is not None and family.paper > 0:
        return "the pooled interval excludes the paper's effect"
    return (
        "the pooled interval excludes effects of the margin or more"
        if family.margin
        else "the pooled interval lies below 0"
    )


def why_undecided(family: Family) -> str:
    if family.pooled is None:
        return "the differences do not vary"
    if family.pooled.low > 0:
        return (
            "the pooled mean is below the margin"
            if family.pooled.mean < family.margin
            else "no single comparison is confirmed"
        )
    against = f"; {opposite_words(family)}" if family.opposed else ""
    if not excludes_paper(family):
        effect = " and the paper's effect" if family.paper else ""
        return f"the pooled interval includes 0{effect}{against}"
    return f"{excluded(family)}, but neither equivalence nor the opposite is shown"


def seeds_needed(family: Family) -> str:
    """For the comparisons that are open: their interval includes both 0 and the paper's effect, or the margin."""
    needed: list[tuple[float, str]] = []
    for test in family.tests:
        difference, effect = test.paired.difference, test.paper if test.paper and test.paper > 0 else test.margin
        if effect and difference.low <= 0 <= difference.high and difference.low <= effect <= difference.high:
            spread = standard_error(difference) * difference.n**0.5
            seeds = seeds_for(partial(t_test_power, effect, spread)) if spread else None
            needed.append((seeds or float("inf"), test.name))
    if not needed:
        return ""
    (least, first), (most, last) = min(needed), max(needed)
    words = [f"{seeds:g}" if seeds <= MOST else f"more than {MOST}" for seeds in (least, most)]
    target = "the paper's effect" if family.paper else "the margin"
    numbers = f"{words[0]} ({first})" if len(needed) == 1 else f"{words[0]} ({first}) to {words[1]} ({last})"
    return f"seeds for 80 % power at {target}: {numbers}"


def no_number(family: Family) -> str:
    """Why no number of seeds can be given."""
    if not family.margin and not (family.paper and family.paper > 0):
        return "no number of seeds can be given: neither the paper nor the protocol names an effect for this measure"
    return (
        "no number of seeds can be given: each comparison's own interval excludes 0 or the effect, and only more comparisons "
        "would narrow the pooled one"
    )


def finding(
    given: Given, tests: Sequence[Difference], measure: Measure, planned: int, need: Need = "half", alpha: float = ALPHA
) -> Finding | None:
    family = make_family(tests, alpha)
    if family is None:
        return None
    verdict, why = judge(given, family, need)
    needed = seeds_needed(family) or no_number(family) if verdict == UNDECIDED else ""
    measured, texts = describe(family, measure, alpha, planned), over_texts(given, family.tests, measure)
    return Finding(verdict, measured, why, family.pooled, family.paper, family.margin, needed, texts)


def describe(family: Family, measure: Measure, alpha: float, planned: int) -> str:
    """The tests in one sentence; `planned` is the number of tests once all cells have been run."""
    tests = family.tests
    count = f"{len(tests)} of {planned} comparisons" if len(tests) < planned else several(len(tests), "comparison")
    words = [f"{count}, {span([test.paired.difference.n for test in tests])} seeds"]
    if family.pooled is not None and len(tests) > 1:
        words.append(f"pooled {pooled_words(family.pooled, measure)}" + beside(family, measure))
    elif len(tests) == 1:
        words.append(f"difference {with_interval(tests[0], measure)} ({tests[0].name})" + beside(family, measure))
    against = f", {family.opposed} confirmed in the opposite direction" if family.opposed else ""
    words.append(f"{family.favour} in favour, {family.confirmed} confirmed (p < {alpha:g}, Holm){against}")
    if len(tests) > 1:
        best, worst = (pick(tests, key=lambda test: test.unit * test.mean) for pick in (max, min))
        words.append(
            f"from {with_interval(worst, measure)} ({worst.name}) to {with_interval(best, measure)} ({best.name})"
        )
    return "; ".join(words)


def over_texts(given: Given, tests: Sequence[Difference], measure: Measure) -> str:
    """Intervals over seeds and texts, and McNemar's test, of the comparisons whose rows have predictions."""
    words = []
    for test in tests:
        if test.measure and len(test.cells) == 2:
            both = [given.rows.get(cell_key, ()) for cell_key in test.cells]
            result = compare_over_texts(both[0], both[1], test.measure)
            if result is not None:
                low, high = sorted((test.side * result.low, test.side * result.high))
                p = "" if result.discordant is None else f", McNemar p {p_text(result.discordant.p)}"
                interval = f"{signed(low, measure)} … {signed(high, measure)}"
                words.append(f"{test.name} {interval} ({several(result.seeds, 'seed')}{p})")
    if not words:
        return ""
    return f"Over texts too (predictions exist for {len(words)} of {several(len(tests), 'comparison')}): {'; '.join(words)}"


def beside(family: Family, measure: Measure) -> str:
    """The paper's mean difference and the margin."""
    parts = []
    if family.paper is not None:
        parts.append(f"paper {signed(family.paper, measure)}")
    if family.margin:
        parts.append(f"margin {shown(family.margin, measure)}")
    return f" ({', '.join(parts)})" if parts else ""


def pooled_words(pooled: Pooled, measure: Measure) -> str:
    return f"{signed(pooled.mean, measure)} ± {shown(pooled.half(), measure)}"


def with_interval(test: Difference, measure: Measure) -> str:
    half = test.paired.difference.half
    return signed(test.mean, measure) + (f" ± {shown(half, measure)}" if half is not None else "")
