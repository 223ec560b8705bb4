"""Rules that test differences, paired by seed, with Holm's correction over a claim's comparisons.

A rule takes the table, its rows by cell, and the claim's arguments. It returns None if nothing has been measured yet. Its
docstring appears on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

from regard_lab.claims.conditions import from_values, judge
from regard_lab.claims.differences import Difference, Need, finding
from regard_lab.claims.equality import judge_equality, judge_no_gain
from regard_lab.claims.verdicts import ALPHA, Finding, Given, Rows
from regard_lab.comparisons import by_seed
from regard_lab.measures import Measure, shown, signed
from regard_lab.rows import CellKey
from regard_lab.statistics import mean_interval, paired
from regard_lab.tables.table import Table

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
    given: Given,
    measure: str | Sequence[str],
    need: Need = "half",
    alpha: float = ALPHA,
    sign: int = 0,
    **selection: Unpack[Selection],
) -> Finding | None:
    """Compares methods or settings: the first should be better. If the claim says "all" or "consistently", every mean must
    favour it and at least half must be confirmed; if it says "significant", all must be confirmed."""
    measures = [measure] if isinstance(measure, str) else list(measure)  # of one unit
    planned = len(measures) * len(list(selected_comparisons(given.table, selection)))
    tests, definition = tests_of(given, measures, sign, selection), given.table.measure(measures[0])
    result = finding(given, tests, definition, planned, need, alpha)
    if result is None or len(measures) > 1 or not measures[0].startswith(ERASING):
        return result
    longer = tests_of(given, [f"{measures[0]}_long"], sign, selection)
    papers = {test.cells: test.paper for test in tests}
    longer = [test._replace(paper=papers.get(test.cells)) for test in longer]  # the papers include short texts
    return without_short_texts(
        result, finding(given, longer, definition, planned, need, alpha), len(longer) == len(tests)
    )


ERASING = (
    "aopc_",
    "post_hoc_",
)  # measures that are decided without texts of at most K words, which erasing leaves empty


def without_short_texts(every: Finding, longer: Finding | None, complete: bool) -> Finding:
    """The result without texts of at most K words decides if all comparisons have it; the other is shown next to it."""
    if longer is None:
        lacking = "texts of at most K words are included: these rows do not keep the measure without them"
        return every._replace(measured=f"{every.measured}; {lacking}")
    if not complete:
        return every._replace(measured=f"{every.measured}; without texts of at most K words, so far: {longer.measured}")
    return longer._replace(measured=f"without texts of at most K words: {longer.measured}; with them: {every.measured}")


def tests_of(given: Given, measures: Sequence[str], sign: int, selection: Selection) -> list[Difference]:
    """The comparisons of a claim, as far as they have been run."""
    comparisons = list(selected_comparisons(given.table, selection))
    tests: list[Difference] = []
    for name in measures:
        side = sign or given.table.measure(name).better or 1
        of = f", {given.table.measure(name).title}" if len(measures) > 1 else ""
        tests += (test._replace(name=test.name + of) for test in differences(given, comparisons, name, side))
    return tests


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
    given: Given, comparisons: Iterable[tuple[CellKey, CellKey]], measure: str, side: int
) -> Iterator[Difference]:
    for first, second in comparisons:
        test = paired(*(signed_values(given.rows, cell_key, measure, side) for cell_key in (first, second)))
        if test is not None:
            name, paper = (
                comparison_name(given.table, first, second),
                printed_difference(given.table, first, second, measure),
            )
            yield Difference(
                name,
                test,
                (first, second),
                None if paper is None else side * paper,
                given.margin(measure, first),
                given.book.unit(measure, given.table.name, first[1]),
                measure,
                side,
            )


def signed_values(rows: Rows, cell_key: CellKey, measure: str, side: int) -> dict[int, float]:
    return {seed: side * value for seed, value in by_seed(rows.get(cell_key, ()), measure).items()}


def comparison_name(table: Table, one: CellKey, other: CellKey) -> str:
    against = table.methods[other[0]].title if one[0] != other[0] else table.settings[other[2]].title
    return f"{table.title_of(one)} − {against}, {table.corpora[one[1]].title}"


def printed_difference(table: Table, one: CellKey, other: CellKey, measure: str) -> float | None:
    if measure not in table.corpora[one[1]].measures:
        return None
    ours, theirs = (table.printed_value(cell_key, measure) for cell_key in (one, other))
    return None if ours is None or theirs is None else ours - theirs


def same(
    given: Given,
    measure: str,
    pairs: Pairs,
    corpora: Sequence[str] = (),
    also: Mapping[str, Pairs] | None = None,
) -> Finding | None:
    """The claim is that there is no difference. Holds if the pooled difference is within the margin (two one-sided tests at
    5 %) and no single difference is confirmed; partly if at least one comparison is within its margin; refuted if none is, and a
    difference is confirmed, of one comparison or of all pooled."""
    tests, definition, planned = paired_methods(given, measure, pairs, corpora)
    for name, further in (also or {}).items():  # pairs of other tables of the paper
        assert given.other is not None
        more, _, count = paired_methods(given.other(name), measure, further, corpora)
        tests, planned = [*tests, *more], planned + count
    return judge_equality(given, tests, definition, planned)


def no_gain(given: Given, measure: str, pairs: Pairs, corpora: Sequence[str] = ()) -> Finding | None:
    """The claim is that the first is not better. Holds if the pooled gain is below the margin (a one-sided test at 5 %) and no
    single gain is confirmed; refuted if a gain is confirmed and none is shown to be below its margin; partly if both occur."""
    return judge_no_gain(given, *paired_methods(given, measure, pairs, corpora))


def paired_methods(
    given: Given, measure: str, pairs: Pairs, corpora: Sequence[str]
) -> tuple[list[Difference], Measure, int]:
    definition, comparisons = given.table.measure(measure), list(method_pairs(given.table, pairs, corpora))
    return list(differences(given, comparisons, measure, definition.better or 1)), definition, len(comparisons)


def close(
    given: Given,
    measure: str,
    at: Pairs,
    within: float,
    methods: Sequence[str] = (),
    corpora: Sequence[str] = (),
) -> Finding | None:
    """One setting against another. Each condition: a loss of at most the stated margin."""
    definition, comparisons = given.table.measure(measure), list(setting_pairs(given.table, at, methods, corpora))
    conditions = []
    for first, second in comparisons:
        values = minus(*(signed_values(given.rows, key, measure, definition.better or 1) for key in (first, second)))
        mean = mean_interval(list(values.values()))
        if mean is not None:
            text = f"{signed(mean.mean, definition)} ± {shown(mean.half, definition)}"
            name = comparison_name(given.table, first, second)
            new = from_values(name, text, first, [value + within for value in values.values()])
            conditions += [new] if new is not None else []
    if not conditions:
        return None
    verdict, why, needed = judge(given, conditions)
    words = "; ".join(f"{condition.name} {condition.text}" for condition in conditions)
    satisfied = sum(condition.side > 0 for condition in conditions)
    head = f"{satisfied} of {len(conditions)} at most {shown(within, definition)} worse"
    return Finding(verdict, f"{head}: {words}", why, needed=needed)


def larger_gain(given: Given, measure: str, pairs: Pairs, on: Pairs) -> Finding | None:
    """The gain of the first method over the second on one corpus minus that on another; verdicts as for "better"."""
    table, tests = given.table, []
    side = table.measure(measure).better or 1
    for first, second in pairs:
        for one, other in on:
            test = paired(*(gains(given.rows, first, second, corpus, measure, side) for corpus in (one, other)))
            if test is not None:
                names = (table.methods[first].title, table.methods[second].title, table.corpora[one].title)
                cells = tuple((method, corpus, "") for method in (first, second) for corpus in (one, other))
                name = "{} against {}, {} − ".format(*names) + table.corpora[other].title
                printed = [
                    printed_difference(table, (first, corpus, ""), (second, corpus, ""), measure)
                    for corpus in (one, other)
                ]
                paper = None if None in printed else side * (printed[0] - printed[1])  # type: ignore[operator]
                tests.append(Difference(name, test, cells, paper, given.margin(measure, cells[0])))
    return finding(given, tests, table.measure(measure), len(pairs) * len(on))


def gains(rows: Rows, first: str, second: str, corpus: str, measure: str, side: int) -> dict[int, float]:
    return minus(*(signed_values(rows, (method, corpus, ""), measure, side) for method in (first, second)))


def minus(one: Mapping[int, float], other: Mapping[int, float]) -> dict[int, float]:
    """Differences for the seeds that both have."""
    return {seed: one[seed] - other[seed] for seed in one.keys() & other.keys()}


def lower_on(given: Given, measure: str, on: Pairs, methods: Sequence[str] = ()) -> Finding | None:
    """A value on one corpus against that on another, where the smaller favours the claim; verdicts as for "better"."""
    table, tests, compared = given.table, [], list(methods or given.table.methods)
    for method in compared:
        for one, other in on:
            cells = (method, other, ""), (method, one, "")
            test = paired(*(by_seed(given.rows.get(cell_key, ()), measure) for cell_key in cells))
            if test is not None:
                names = (table.methods[method].title, table.corpora[other].title, table.corpora[one].title)
                tests.append(
                    Difference("{}, {} − {}".format(*names), test, cells, None, given.margin(measure, cells[0]))
                )
    return finding(given, tests, table.measure(measure), len(compared) * len(on))
