"""Rules on levels, paths and shares, for claims that are not of the form "this is better than that".

Intervals are 95 % intervals over seeds; cells with a single seed have none and are left out. As in `difference_rules`, a rule
returns None if nothing has been measured yet, and its docstring appears on the page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, TypedDict, Unpack

from regard.wilson import wilson_interval
from regard_lab.claims.conditions import Condition, from_values, judge, seeds_to_leave, seeds_words
from regard_lab.claims.difference_rules import minus, signed_values
from regard_lab.claims.differences import Difference, sides
from regard_lab.claims.verdicts import HOLDS, PARTLY, UNDECIDED, Finding, Given, Rows, span
from regard_lab.comparisons import by_seed
from regard_lab.measures import shown
from regard_lab.rows import CellKey, Row
from regard_lab.statistics import Interval, mean_interval, paired
from regard_lab.tables.table import Setting, Table


def below(given: Given, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Each condition: a mean below the bound, for each method and corpus."""
    return one_side(given, measure, methods, -1, bound)


def above(given: Given, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Each condition: a mean above the bound, for each method and corpus."""
    return one_side(given, measure, methods, 1, bound)


def one_side(given: Given, measure: str, methods: Sequence[str], sign: int, bound: float) -> Finding | None:
    intervals = dict(cell_intervals(given.table, given.rows, measure, methods))
    conditions = [
        condition
        for cell_key in intervals
        if (
            condition := from_values(
                "", "", cell_key, [sign * (value - bound) for value in values_of(given, cell_key, measure)]
            )
        )
    ]
    if not conditions:
        return None
    verdict, why, needed = judge(given, conditions)
    head = (
        f"{sum(one.side > 0 for one in conditions)} of {len(conditions)} {'above' if sign > 0 else 'below'} {bound:g}"
    )
    return Finding(verdict, f"{head}: {listed(given.table, intervals, measure)}", why, needed=needed)


def values_of(given: Given, cell_key: CellKey, measure: str) -> list[float]:
    return list(by_seed(given.rows.get(cell_key, ()), measure).values())


def near(
    given: Given, method: str, corpora: Sequence[str], measure: str, value: float, within: float
) -> Finding | None:
    """Each condition: the whole interval within the margin around the printed value; contradicted if it is wholly outside."""
    intervals = {
        cell_key: interval
        for cell_key, interval in cell_intervals(given.table, given.rows, measure, [method])
        if cell_key[1] in corpora
    }
    if not intervals:
        return None
    definition = given.table.measure(measure)
    bounds = value - within, value + within
    conditions = []
    for cell_key, interval in intervals.items():
        needed = seeds_to_leave(values_of(given, cell_key, measure), *bounds)
        conditions.append(Condition("", "", cell_key, bounded(interval, *bounds), needed=needed))
    verdict, why, seeds = judge(given, conditions)
    stated = f"(printed: {shown(value, definition)}; margin: {shown(within, definition)})"
    return Finding(verdict, f"{listed(given.table, intervals, measure)} {stated}", why, needed=seeds)


def bounded(interval: Interval, low: float, high: float) -> int:
    """1: the interval lies within the bounds; −1: outside; 0: neither."""
    if low <= interval.low and interval.high <= high:
        return 1
    return -1 if interval.high < low or interval.low > high else 0


def cell_intervals(
    table: Table, rows: Rows, measure: str, methods: Sequence[str] = ()
) -> Iterator[tuple[CellKey, Interval]]:
    for cell in table.cells():
        if not methods or cell.method in methods:
            interval = mean_interval(list(by_seed(rows.get(cell.key, ()), measure).values()))
            if interval is not None and interval.half is not None:
                yield cell.key, interval


def listed(table: Table, intervals: Mapping[CellKey, Interval], measure: str) -> str:
    definition = table.measure(measure)
    seeds = span([interval.n for interval in intervals.values()])
    several = len({cell_key[0] for cell_key in intervals}) > 1 or len(table.settings) > 1
    values = [
        f"{table.corpora[cell_key[1]].title}{f' ({table.title_of(cell_key)})' if several else ''} "
        f"{shown(interval.mean, definition)} ± {shown(interval.half, definition)}"
        for cell_key, interval in intervals.items()
    ]
    return f"{', '.join(values)}; {seeds} seeds"


def falls(given: Given, value: str, methods: Sequence[str] = ()) -> Finding | None:
    """Each condition: the value after the last epoch is below that after the first, for each method and corpus."""
    conditions, words, seeds = [], [], []
    for cell in given.table.cells():
        ends = path_ends(given.rows.get(cell.key, ()), value)
        condition = from_values("", "", cell.key, [first - last for first, last in ends])
        if condition is not None and (not methods or cell.method in methods):
            conditions.append(condition)
            seeds.append(len(ends))
            first, last = (fmean(end[at] for end in ends) for at in (0, 1))
            words.append(f"{given.table.corpora[cell.corpus.name].title} {first:.3f} → {last:.3f}")
    if not conditions:
        return None
    verdict, why, needed = judge(given, conditions)
    head = f"{sum(one.side > 0 for one in conditions)} of {len(conditions)} fall"
    return Finding(verdict, f"{head}: {', '.join(words)}; {span(seeds)} seeds", why, needed=needed)


def path_ends(rows: Sequence[Row], value: str) -> list[tuple[float, float]]:
    """The first and last value of a path, for successful runs with two or more values."""
    paths = [row.get("history", {}).get(value, []) for row in rows if "error" not in row]
    ends = [(path[0], path[-1]) for path in paths if len(path) > 1]
    return [(first, last) for first, last in ends if first is not None and last is not None]


def unstable(
    given: Given, methods: Sequence[str], expected: Literal["never", "occasionally", "usually"]
) -> Finding | None:
    """A run counts as failed if it diverged (loss NaN or above a million) or if its loss ended above its initial value.
    Never: no run failed; occasionally: fewer than half; usually: half or more. Each condition: a method is in the expected
    category. The interval is Wilson's, of the share of failed runs."""
    conditions, words = [], []
    for method in methods:
        keys = [cell_key for cell_key in given.rows if cell_key[0] == method]
        rows = [row for cell_key in keys for row in given.rows[cell_key]]
        runs = [row for row in rows if "error" not in row or "diverged" in row["error"]]
        if runs:
            failed = sum(map(is_unstable, runs))
            side = 1 if stability(failed, len(runs)) == expected else -1
            conditions.append(Condition(method, "", keys[0], side))
            low, high = wilson_interval(failed / len(runs), len(runs))
            vacuous = " (vacuous)" if method in given.vacuous else ""
            title = given.table.methods[method].title
            words.append(f"{title}{vacuous}: {failed} of {len(runs)} runs ({100 * low:.0f} to {100 * high:.0f} %)")
    if not conditions:
        return None
    verdict, why, _ = judge(given, conditions)
    return Finding(verdict, "failed: " + "; ".join(words), why)


def is_unstable(row: Row) -> bool:
    return "error" in row or any(last > first for first, last in path_ends([row], "loss"))


def stability(failed: int, count: int) -> str:
    return "never" if not failed else "occasionally" if 2 * failed < count else "usually"


class Bounds(TypedDict, total=False):
    at_most: float
    at_least: float
    between: Sequence[float]


def speed(
    given: Given,
    against: str,
    method: str = "",
    methods: Sequence[str] = (),
    **bounds: Unpack[Bounds],
) -> Finding | None:
    """Relative speeds by shape and machine. Each condition: the whole interval within the bound; contradicted if it is wholly
    outside."""
    table, intervals = given.table, {}
    for cell in table.cells():
        if cell.method in (methods or [method]):
            values = by_seed(given.rows.get(cell.key, ()), "speed")
            reference = (
                by_seed(given.rows.get((against, *cell.key[1:]), ()), "speed") if against in table.methods else {}
            )
            interval = mean_interval([value / reference.get(seed, 1.0) for seed, value in values.items()])
            if interval is not None and interval.half is not None:
                intervals[cell.key] = interval
    if not intervals:
        return None
    low, high = bounds.get("between", (bounds.get("at_least", -math.inf), bounds.get("at_most", math.inf)))
    conditions = [Condition("", "", key, bounded(interval, low, high)) for key, interval in intervals.items()]
    verdict, why, _ = judge(given, conditions)
    planned = sum(cell.method in (methods or [method]) for cell in table.cells())
    missing = f" ({planned - len(intervals)} not measured yet)" if planned > len(intervals) else ""
    words = [
        f"{table.title_of(cell_key)}, {table.corpora[cell_key[1]].title}: {interval.mean:.3f} ± {interval.half:.3f}"
        for cell_key, interval in intervals.items()
    ]
    satisfied = sum(condition.side > 0 for condition in conditions)
    return Finding(verdict, f"{satisfied} of {len(intervals)}{missing}: {'; '.join(words)}", why)


def peak(
    given: Given,
    measure: str,
    option: str,
    at: float,
    methods: Sequence[str] = (),
    corpora: Sequence[str] = (),
) -> Finding | None:
    """On each corpus the given setting must be confirmed better than both ends of the axis, and no other setting confirmed
    better than it (paired tests, Holm's correction over all). Holds if this is so on every corpus; partly if on some, or if
    one end is confirmed worse; refuted if on half of the corpora or more another setting is confirmed better."""
    table = given.table
    order = sorted((x for x in table.settings.values() if option in x.options), key=lambda x: float(x.options[option]))
    middle = next(setting for setting in order if setting.options[option] == at)
    values_ = {
        (method, corpus): axis(table, given.rows, (method, corpus), measure, order)
        for method in methods or table.methods
        for corpus in corpora or table.corpora
    }
    tests = {
        (*group, setting.name): Difference("", difference)
        for group, values in values_.items()
        for setting in order
        if setting is not middle
        and (difference := paired(values[middle.name], values[setting.name])) is not None
        and difference.p is not None
    }
    if not tests:
        return None
    side = dict(zip(tests, sides(list(tests.values())), strict=True))
    groups = sorted({key[:2] for key in tests}, key=list(values_).index)
    ends = {group: [side.get((*group, end.name), 0) for end in (order[0], order[-1])] for group in groups}
    worse = [group for group in groups if any(side[key] < 0 for key in side if key[:2] == group)]
    full = sum(min(ends[group]) > 0 and group not in worse for group in groups)
    one_end = sum(max(both) > 0 for both in ends.values())
    why = (
        f"{full} of {len(groups)} with a peak there, {one_end} with at least one end of the axis below it, "
        f"{len(worse)} with a better setting elsewhere (Holm)"
    )
    if full == len(groups):
        verdict = HOLDS
    elif one_end:
        verdict = PARTLY
    elif 2 * len(worse) >= len(groups):
        verdict = given.negative([(*group, middle.name) for group in groups], opposite=True)
    else:
        verdict = UNDECIDED
    words = [describe_axis(table, group, values_[group], measure, (order[0], middle, order[-1])) for group in groups]
    needed = peak_seeds(values_, (order[0], middle, order[-1])) if verdict == UNDECIDED else ""
    return Finding(verdict, f"{full} of {len(groups)} with a peak there. " + "; ".join(words), why, needed=needed)


def peak_seeds(values: Mapping[tuple[str, str], Mapping[str, Mapping[int, float]]], named: Sequence[Setting]) -> str:
    """For the differences between the middle and both ends that are not significant by themselves."""
    low, middle, high = (setting.name for setting in named)
    open_tests = []
    for (method, corpus), of_group in values.items():
        for end in (low, high):
            differences = list(minus(of_group[middle], of_group[end]).values())
            condition = from_values("", "", (method, corpus, end), differences)
            if condition is not None and not condition.side:
                open_tests.append(condition)
    return seeds_words(open_tests)


def axis(
    table: Table, rows: Rows, group: tuple[str, str], measure: str, order: Sequence[Setting]
) -> dict[str, dict[int, float]]:
    side = table.measure(measure).better or 1
    return {setting.name: signed_values(rows, (*group, setting.name), measure, side) for setting in order}


def describe_axis(
    table: Table,
    group: tuple[str, str],
    values: Mapping[str, Mapping[int, float]],
    measure: str,
    named: Sequence[Setting],
) -> str:
    definition, side = table.measure(measure), table.measure(measure).better or 1
    means = {name: sum(values_.values()) / len(values_) for name, values_ in values.items() if values_}
    best = max(means, key=lambda name: means[name])

    def at_setting(name: str) -> str:
        return f"{shown(side * means[name], definition)} at {table.settings[name].title}"

    several = f"{table.methods[group[0]].title}, " if len(table.methods) > 1 else ""
    rest = ", ".join(at_setting(setting.name) for setting in named if setting.name in means and setting.name != best)
    return f"{several}{table.corpora[group[1]].title}: best {at_setting(best)}; {rest}"
