"""Rules that test differences, paired by seed, with Holm's correction over a claim's comparisons.

A rule takes the table, its rows by cell, and the claim's arguments. It returns None if nothing has been measured yet. Its
docstring appears on the page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypedDict, Unpack

from regard_lab.claims.verdicts import (
    ALPHA,
    HOLDS,
    NOT_HERE,
    PARTLY,
    Difference,
    Finding,
    TestSummary,
    describe_tests,
    summarise,
    usable,
    verdict_by_count,
    with_interval,
)
from regard_lab.comparisons import by_seed
from regard_lab.measures import Measure, shown
from regard_lab.rows import CellKey, Row
from regard_lab.statistics import paired
from regard_lab.tables.table import Table

Rows = Mapping[CellKey, Sequence[Row]]
Pairs = Sequence[Sequence[str]]


class Selection(TypedDict, total=False):
    """What is compared: methods, or settings; by default on every corpus and at every setting."""

    pairs: Pairs  # of methods
    corpora: Sequence[str]
    only: Sequence[str]  # at these settings
    settings: Sequence[str]  # one pair of them
    at: Pairs  # several pairs of them
    methods: Sequence[str]  # of these


def better(
    table: Table,
    rows: Rows,
    measure: str | Sequence[str],
    need: Literal["half", "most", "all"] = "half",
    alpha: float = ALPHA,
    sign: int = 0,
    **selection: Unpack[Selection],
) -> Finding | None:
    """Compares methods or settings. Holds if every mean difference favours the first and at least half of the differences
    are confirmed; partly if at least one is confirmed; not here if none is. If the claim says "usually", most must be
    confirmed; if it says "significant", all."""
    measures = [measure] if isinstance(measure, str) else list(measure)  # of one unit
    comparisons = list(selected_comparisons(table, selection))
    tests: list[Difference] = []
    paper: list[bool] = []
    for name in measures:
        side = sign or table.measure(name).better or 1
        of = f", {table.measure(name).title}" if len(measures) > 1 else ""
        tests += (Difference(test.name + of, test.paired) for test in differences(table, rows, comparisons, name, side))
        paper += printed_sides(table, comparisons, name, side)
    summary = summarise(usable(tests), alpha)
    if not summary.tests:
        return None
    text = describe_tests(summary, table.measure(measures[0]), alpha, len(comparisons) * len(measures))
    if paper:
        text += f"; in the paper's numbers {sum(paper)} of {len(paper)} are in favour"
    return Finding(verdict_from(summary, need), text)


def verdict_from(summary: TestSummary, need: str) -> str:
    confirmed, count = summary.confirmed, len(summary.tests)
    enough = {
        "half": summary.favour == count and 2 * confirmed >= count,
        "most": 2 * confirmed > count,
        "all": confirmed == count,
    }
    return HOLDS if enough[need] else PARTLY if confirmed else NOT_HERE


def selected_comparisons(table: Table, selection: Selection) -> Iterator[tuple[CellKey, CellKey]]:
    settings, corpora = selection.get("settings", ()), selection.get("corpora", ())
    if at := [settings] if settings else selection.get("at", ()):
        return setting_pairs(table, at, selection.get("methods", ()), corpora)
    return method_pairs(table, selection.get("pairs", ()), corpora, selection.get("only", ()))


def method_pairs(
    table: Table, pairs: Pairs, corpora: Sequence[str], only: Sequence[str] = ()
) -> Iterator[tuple[CellKey, CellKey]]:
    """Every pair of methods that both have a cell; `only`: at these settings."""
    cells = {cell.key for cell in table.cells()}
    for corpus in corpora or table.corpora:
        for setting in only or table.settings:
            for first, second in pairs:
                if {(first, corpus, setting), (second, corpus, setting)} <= cells:
                    yield (first, corpus, setting), (second, corpus, setting)


def setting_pairs(
    table: Table, at: Pairs, methods: Sequence[str] = (), corpora: Sequence[str] = ()
) -> Iterator[tuple[CellKey, CellKey]]:
    """One setting against another, for every method and corpus or for these."""
    cells = [cell.key for cell in table.cells()]
    for first, second in at:
        for method, corpus, setting in cells:
            included = (not methods or method in methods) and (not corpora or corpus in corpora)
            if included and setting == first and (method, corpus, second) in cells:
                yield (method, corpus, first), (method, corpus, second)


def differences(
    table: Table, rows: Rows, comparisons: Iterable[tuple[CellKey, CellKey]], measure: str, side: int
) -> Iterator[Difference]:
    for first, second in comparisons:
        test = paired(*(signed_values(rows, cell_key, measure, side) for cell_key in (first, second)))
        if test is not None:
            yield Difference(comparison_name(table, first, second), test)


def signed_values(rows: Rows, cell_key: CellKey, measure: str, side: int) -> dict[int, float]:
    return {seed: side * value for seed, value in by_seed(rows.get(cell_key, ()), measure).items()}


def comparison_name(table: Table, one: CellKey, other: CellKey) -> str:
    against = table.methods[other[0]].title if one[0] != other[0] else table.settings[other[2]].title
    return f"{table.title_of(one)} − {against}, {table.corpora[one[1]].title}"


def printed_sides(
    table: Table, comparisons: Iterable[tuple[CellKey, CellKey]], measure: str, side: int
) -> Iterator[bool]:
    """Whether each printed difference favours the first."""
    for one, other in comparisons:
        if measure in table.corpora[one[1]].measures:
            ours, theirs = (table.printed_value(cell_key, measure) for cell_key in (one, other))
            if ours is not None and theirs is not None:
                yield side * (ours - theirs) > 0


def same(table: Table, rows: Rows, measure: str, pairs: Pairs, corpora: Sequence[str] = ()) -> Finding | None:
    """Holds if no difference is confirmed in either direction; partly if at most half are; otherwise not here. An
    unconfirmed difference may still exist: the intervals show how large it may be."""
    comparisons = list(method_pairs(table, pairs, corpora))
    summary = summarise(usable(list(differences(table, rows, comparisons, measure, 1))))
    if not summary.tests:
        return None
    significant = summary.confirmed + summary.opposed
    verdict = HOLDS if not significant else PARTLY if 2 * significant <= len(summary.tests) else NOT_HERE
    return Finding(verdict, describe_tests(summary, table.measure(measure), ALPHA, len(comparisons)))


def no_gain(table: Table, rows: Rows, measure: str, pairs: Pairs, corpora: Sequence[str] = ()) -> Finding | None:
    """Holds if no gain of the first over the second is confirmed; partly if at most half are; otherwise not here."""
    side, comparisons = table.measure(measure).better or 1, list(method_pairs(table, pairs, corpora))
    summary = summarise(usable(list(differences(table, rows, comparisons, measure, side))))
    if not summary.tests:
        return None
    confirmed = summary.confirmed
    verdict = HOLDS if not confirmed else PARTLY if 2 * confirmed <= len(summary.tests) else NOT_HERE
    return Finding(verdict, describe_tests(summary, table.measure(measure), ALPHA, len(comparisons)))


def close(
    table: Table,
    rows: Rows,
    measure: str,
    at: Pairs,
    within: float,
    methods: Sequence[str] = (),
    corpora: Sequence[str] = (),
) -> Finding | None:
    """One setting against another. Holds if the whole interval shows a loss of at most the margin for every method and
    corpus; partly if for some."""
    definition, comparisons = table.measure(measure), list(setting_pairs(table, at, methods, corpora))
    tests = usable(list(differences(table, rows, comparisons, measure, definition.better or 1)))
    if not tests:
        return None
    satisfied = sum(test.paired.difference.low >= -within for test in tests)
    words = [f"{test.name} {with_interval(test, definition)}" for test in tests]
    head = f"{satisfied} of {len(tests)} at most {shown(within, definition)} worse"
    return Finding(verdict_by_count(satisfied, len(tests)), f"{head}: {'; '.join(words)}")


def larger_gain(table: Table, rows: Rows, measure: str, pairs: Pairs, on: Pairs) -> Finding | None:
    """The gain of the first method over the second on one corpus minus that on another; verdicts as for "better"."""
    side, tests = table.measure(measure).better or 1, []
    for first, second in pairs:
        for one, other in on:
            test = paired(*(gains(rows, first, second, corpus, measure, side) for corpus in (one, other)))
            if test is not None:
                names = (table.methods[first].title, table.corpora[one].title, table.corpora[other].title)
                tests.append(Difference("{}, {} − {}".format(*names), test))
    return finding_from(tests, table.measure(measure), len(pairs) * len(on))


def gains(rows: Rows, first: str, second: str, corpus: str, measure: str, side: int) -> dict[int, float]:
    return minus(*(signed_values(rows, (method, corpus, ""), measure, side) for method in (first, second)))


def minus(one: Mapping[int, float], other: Mapping[int, float]) -> dict[int, float]:
    """Differences for the seeds that both have."""
    return {seed: one[seed] - other[seed] for seed in one.keys() & other.keys()}


def lower_on(
    table: Table,
    rows: Rows,
    measure: str,
    on: Pairs,
    methods: Sequence[str] = (),
) -> Finding | None:
    """A value on one corpus against that on another, where the smaller favours the claim; verdicts as for "better"."""
    tests, compared = [], list(methods or table.methods)
    for method in compared:
        for one, other in on:
            high, low = (by_seed(rows.get((method, corpus, ""), ()), measure) for corpus in (other, one))
            if (test := paired(high, low)) is not None:
                names = (table.methods[method].title, table.corpora[other].title, table.corpora[one].title)
                tests.append(Difference("{}, {} − {}".format(*names), test))
    return finding_from(tests, table.measure(measure), len(compared) * len(on))


def finding_from(tests: Sequence[Difference], measure: Measure, planned: int) -> Finding | None:
    summary = summarise(usable(tests))
    if not summary.tests:
        return None
    return Finding(verdict_from(summary, "half"), describe_tests(summary, measure, ALPHA, planned))


WEIGHT = Measure("weight", 1, 3)


def heavier(
    table: Table, rows: Rows, corpus: str, methods: Sequence[str], word: str, than: Sequence[str]
) -> Finding | None:
    """The weight of one word of a quoted text minus that of other words, over seeds; verdicts as for "better"."""
    tests = []
    for method in methods:
        for other in than:
            weights = [weights_of(rows.get((method, corpus, ""), ()), [form]) for form in (word, other)]
            if (test := paired(*weights)) is not None:
                tests.append(Difference(f"{table.methods[method].title}, “{word}” − “{other}”", test))
    return finding_from(tests, WEIGHT, len(methods) * len(than))


def rests_on(
    table: Table,
    rows: Rows,
    words: Mapping[str, Collection[str]],
    methods: Sequence[str] = (),
    pairs: Pairs = (),
) -> Finding | None:
    """The total weight of some words of a quoted text minus their weight if all words had the same weight; for two methods,
    minus the weight that the other gives them. Over seeds; verdicts as for "better"."""
    tests = []
    for corpus, forms in words.items():
        quoted = ", ".join(f"“{word}”" for word in forms)
        for one, other in [*((method, "") for method in methods), *pairs]:
            method_rows = rows.get((one, corpus, ""), ())
            reference = (
                weights_of(rows.get((other, corpus, ""), ()), forms) if other else weights_of(method_rows, forms, True)
            )
            if (test := paired(weights_of(method_rows, forms), reference)) is not None:
                against = table.methods[other].title if other else "uniform weights"
                tests.append(Difference(f"{table.methods[one].title} − {against}, {quoted}", test))
    return finding_from(tests, WEIGHT, len(words) * (len(methods) + len(pairs)))


def weights_of(rows: Sequence[Row], words: Collection[str], uniform: bool = False) -> dict[int, float]:
    """Total weight of these words by seed; `uniform`: if every word had the same weight."""
    totals = {}
    for row in rows:
        tokens = [token for text in row.get("texts", ()) for token in text["tokens"]]
        matching = [
            1 / len(tokens) if uniform else token["weight"] for token in tokens if token["text"].lower() in words
        ]
        if matching:
            totals[row["seed"]] = sum(matching)
    return totals
