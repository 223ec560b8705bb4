"""What the results say of a claim, in one of a few words, and how a verdict follows from tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regard_lab.measures import Measure, shown, signed
from regard_lab.statistics import Paired, holm

HOLDS, PARTLY, NOT_HERE = "holds", "partly", "not here"
UNTESTABLE, LATER = "cannot be tested with data at hand", "to be measured"
VERDICTS = (HOLDS, PARTLY, NOT_HERE, UNTESTABLE, LATER)
ALPHA = 0.05


class Finding(NamedTuple):
    verdict: str
    measured: str  # the numbers behind it, with intervals and seeds


class Difference(NamedTuple):
    """A mean difference, positive where it favours the claim, and what it is of."""

    name: str
    found: Paired


def verdict_by_count(kept: int, of: int) -> str:
    return HOLDS if kept == of else PARTLY if kept else NOT_HERE


class Judged(NamedTuple):
    tests: Sequence[Difference]
    favour: int  # mean differences on the claim's side
    confirmed: int  # … that the corrected test tells from 0
    opposed: int  # on the other side, and told from 0


def judge(tests: Sequence[Difference], alpha: float = ALPHA) -> Judged:
    found = sides(tests, alpha)
    return Judged(tests, sum(test.found.difference.mean > 0 for test in tests), found.count(1), found.count(-1))


def sides(tests: Sequence[Difference], alpha: float = ALPHA) -> list[int]:
    """1: confirmed in favour; −1: confirmed against; 0: neither. Corrected over all of them."""
    corrected = holm([test.found.p for test in tests])
    return [
        (1 if test.found.difference.mean > 0 else -1) if p is not None and p < alpha else 0
        for test, p in zip(tests, corrected, strict=True)
    ]


def usable(tests: Sequence[Difference]) -> list[Difference]:
    """Those with two seeds or more: one difference tests nothing."""
    return [test for test in tests if test.found.p is not None]


def told(judged: Judged, measure: Measure, alpha: float, planned: int) -> str:
    """The tests in one sentence; `planned` is how many there will be."""
    tests = judged.tests
    means = [test.found.difference.mean for test in tests]
    seeds = sorted({test.found.difference.n for test in tests})
    of = f"{len(tests)} of {planned} comparisons so far" if len(tests) < planned else several(len(tests), "comparison")
    best, worst = (pick(tests, key=lambda test: test.found.difference.mean) for pick in (max, min))
    words = [
        f"{of}, {span(seeds)} seeds: {judged.favour} in favour, {judged.confirmed} confirmed (p < {alpha:g} after Holm)"
        + (f", {judged.opposed} confirmed the other way" if judged.opposed else ""),
        f"mean difference {signed(sum(means) / len(means), measure)}",
    ]
    if len(tests) > 1:
        words[1] += (
            f", from {with_interval(worst, measure)} ({worst.name}) to {with_interval(best, measure)} ({best.name})"
        )
    else:
        words[1] = f"difference {with_interval(best, measure)} ({best.name})"
    return "; ".join(words)


def with_interval(test: Difference, measure: Measure) -> str:
    half = test.found.difference.half
    return signed(test.found.difference.mean, measure) + (f" ± {shown(half, measure)}" if half is not None else "")


def several(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
