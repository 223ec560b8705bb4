"""The possible verdicts on a claim, and how they follow from tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from regard_lab.measures import Measure, shown, signed
from regard_lab.statistics import Paired, holm

HOLDS, PARTLY, NOT_HERE = "holds", "partly", "not here"
UNTESTABLE, LATER = "cannot be tested with data at hand", "to be measured"
VERDICTS = (HOLDS, PARTLY, NOT_HERE, UNTESTABLE, LATER)  # as written in evidence.toml
ALPHA = 0.05


class Finding(NamedTuple):
    verdict: str
    measured: str  # the numbers behind it, with intervals and seeds


class Difference(NamedTuple):
    """A mean difference, positive if it favours the claim, and its name."""

    name: str
    paired: Paired


def shown_verdict(verdict: str) -> str:
    return "cannot be tested with the available data" if verdict == UNTESTABLE else verdict


def verdict_by_count(satisfied: int, total: int) -> str:
    return HOLDS if satisfied == total else PARTLY if satisfied else NOT_HERE


class TestSummary(NamedTuple):
    tests: Sequence[Difference]
    favour: int  # number of mean differences that favour the claim
    confirmed: int  # … and are significant after the correction
    opposed: int  # significant differences that contradict the claim


def summarise(tests: Sequence[Difference], alpha: float = ALPHA) -> TestSummary:
    signs = sides(tests, alpha)
    return TestSummary(tests, sum(test.paired.difference.mean > 0 for test in tests), signs.count(1), signs.count(-1))


def sides(tests: Sequence[Difference], alpha: float = ALPHA) -> list[int]:
    """1: confirmed in favour; −1: confirmed against; 0: neither. Corrected over all tests."""
    corrected = holm([test.paired.p for test in tests])
    return [
        (1 if test.paired.difference.mean > 0 else -1) if p is not None and p < alpha else 0
        for test, p in zip(tests, corrected, strict=True)
    ]


def usable(tests: Sequence[Difference]) -> list[Difference]:
    """The tests with two or more seeds: a single difference cannot be tested."""
    return [test for test in tests if test.paired.p is not None]


def describe_tests(summary: TestSummary, measure: Measure, alpha: float, planned: int) -> str:
    """The tests in one sentence; `planned` is the number of tests once all cells have been run."""
    tests = summary.tests
    means = [test.paired.difference.mean for test in tests]
    seeds = sorted({test.paired.difference.n for test in tests})
    count = (
        f"{len(tests)} of {planned} comparisons so far" if len(tests) < planned else several(len(tests), "comparison")
    )
    best, worst = (pick(tests, key=lambda test: test.paired.difference.mean) for pick in (max, min))
    words = [
        f"{count}, {span(seeds)} seeds: {summary.favour} in favour, "
        f"{summary.confirmed} confirmed (p < {alpha:g} after Holm's correction)"
        + (f", {summary.opposed} confirmed in the opposite direction" if summary.opposed else ""),
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
    half = test.paired.difference.half
    return signed(test.paired.difference.mean, measure) + (f" ± {shown(half, measure)}" if half is not None else "")


def several(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
