"""Rules on levels, paths and shares, for claims that are not of the form "this is better than that".

Intervals are 95 % intervals over seeds; cells with a single seed have none and are left out. As in `difference_rules`, a rule
returns None if nothing has been measured yet, and its docstring appears on the page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal, TypedDict, Unpack

from regard_lab.claims.difference_rules import Rows, signed_values
from regard_lab.claims.verdicts import HOLDS, NOT_HERE, PARTLY, Difference, Finding, sides, span, verdict_by_count
from regard_lab.comparisons import by_seed
from regard_lab.measures import shown
from regard_lab.rows import CellKey, Row
from regard_lab.statistics import Interval, mean_interval, paired
from regard_lab.tables.table import Setting, Table


def below(table: Table, rows: Rows, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Holds if the whole interval is below the bound on every corpus; partly if on some."""
    return count_within(table, rows, measure, methods, lambda interval: interval.high < bound, f"below {bound:g}")


def above(table: Table, rows: Rows, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Holds if the whole interval is above the bound for every method and corpus; partly if for some."""
    return count_within(table, rows, measure, methods, lambda interval: interval.low > bound, f"above {bound:g}")


def count_within(
    table: Table, rows: Rows, measure: str, methods: Sequence[str], is_satisfied: Callable[[Interval], bool], side: str
) -> Finding | None:
    intervals = dict(cell_intervals(table, rows, measure, methods))
    if not intervals:
        return None
    satisfied = sum(map(is_satisfied, intervals.values()))
    words = f"{satisfied} of {len(intervals)} {side}: {listed(table, intervals, measure)}"
    return Finding(verdict_by_count(satisfied, len(intervals)), words)


def near(
    table: Table, rows: Rows, method: str, corpora: Sequence[str], measure: str, value: float, within: float
) -> Finding | None:
    """Holds if the whole interval is within the margin around the printed value on every corpus; partly if the mean is on
    some."""
    intervals = {
        cell_key: interval
        for cell_key, interval in cell_intervals(table, rows, measure, [method])
        if cell_key[1] in corpora
    }
    if not intervals:
        return None
    definition = table.measure(measure)
    inside = sum(max(value - interval.low, interval.high - value) <= within for interval in intervals.values())
    close = sum(abs(interval.mean - value) <= within for interval in intervals.values())
    verdict = HOLDS if inside == len(intervals) else PARTLY if close else NOT_HERE
    words = f"{listed(table, intervals, measure)} (printed: {shown(value, definition)}; margin: {shown(within, definition)})"
    return Finding(verdict, words)


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


def falls(table: Table, rows: Rows, value: str, methods: Sequence[str] = ()) -> Finding | None:
    """The value after the last epoch minus that after the first. Holds if the whole interval is below 0 on every corpus;
    partly if on some."""
    ends = {cell.key: path_ends(rows.get(cell.key, ()), value) for cell in table.cells()}
    changes = {
        cell_key: (mean_interval([last - first for first, last in cell_ends]), cell_ends)
        for cell_key, cell_ends in ends.items()
        if len(cell_ends) > 1 and (not methods or cell_key[0] in methods)
    }
    if not changes:
        return None
    fallen = sum(change is not None and change.high < 0 for change, _ in changes.values())
    words = [
        f"{table.corpora[cell_key[1]].title} "
        f"{fmean(first for first, _ in cell_ends):.3f} → {fmean(last for _, last in cell_ends):.3f}"
        for cell_key, (_, cell_ends) in changes.items()
    ]
    seeds = span([len(cell_ends) for _, cell_ends in changes.values()])
    head = f"{fallen} of {len(changes)} fall"
    return Finding(verdict_by_count(fallen, len(changes)), f"{head}: {', '.join(words)}; {seeds} seeds")


def path_ends(rows: Sequence[Row], value: str) -> list[tuple[float, float]]:
    """The first and last value of a path, for successful runs with two or more values."""
    paths = [row.get("history", {}).get(value, []) for row in rows if "error" not in row]
    ends = [(path[0], path[-1]) for path in paths if len(path) > 1]
    return [(first, last) for first, last in ends if first is not None and last is not None]


def unstable(
    table: Table, rows: Rows, methods: Sequence[str], expected: Literal["never", "occasionally", "usually"]
) -> Finding | None:
    """A run counts as failed if it diverged (loss NaN or above a million) or if its loss ended above its initial value.
    Never: no run failed; occasionally: fewer than half; usually: half or more. Holds if every method is in the expected
    category; partly if some are."""
    by_method = {}
    for method in methods:
        method_rows = [row for cell_key, seeds in rows.items() if cell_key[0] == method for row in seeds]
        runs = [row for row in method_rows if "error" not in row or "diverged" in row["error"]]
        if runs:
            by_method[method] = (sum(map(is_unstable, runs)), len(runs))
    if not by_method:
        return None
    satisfied = sum(stability(*counts) == expected for counts in by_method.values())
    words = [
        f"{table.methods[method].title}: {failed} of {count} runs" for method, (failed, count) in by_method.items()
    ]
    return Finding(verdict_by_count(satisfied, len(by_method)), "failed: " + "; ".join(words))


def is_unstable(row: Row) -> bool:
    return "error" in row or any(last > first for first, last in path_ends([row], "loss"))


def stability(failed: int, count: int) -> str:
    return "never" if not failed else "occasionally" if 2 * failed < count else "usually"


class Bounds(TypedDict, total=False):
    at_most: float
    at_least: float
    between: Sequence[float]


def speed(
    table: Table,
    rows: Rows,
    against: str,
    method: str = "",
    methods: Sequence[str] = (),
    **bounds: Unpack[Bounds],
) -> Finding | None:
    """Relative speeds by shape and machine. Holds if every interval is within the bound (for a range: every mean); partly
    if some are."""
    intervals: dict[CellKey, Interval] = {}
    for cell in table.cells():
        if cell.method in (methods or [method]):
            values = by_seed(rows.get(cell.key, ()), "speed")
            reference = by_seed(rows.get((against, *cell.key[1:]), ()), "speed") if against in table.methods else {}
            ratios = [value / reference.get(seed, 1.0) for seed, value in values.items()]
            interval = mean_interval(ratios)
            if interval is not None and interval.half is not None:
                intervals[cell.key] = interval
    if not intervals:
        return None
    satisfied = sum(is_within(interval, bounds) for interval in intervals.values())
    planned = sum(cell.method in (methods or [method]) for cell in table.cells())
    so_far = f" ({planned - len(intervals)} not measured yet)" if planned > len(intervals) else ""
    words = [
        f"{table.title_of(cell_key)}, {table.corpora[cell_key[1]].title}: {interval.mean:.3f} ± {interval.half:.3f}"
        for cell_key, interval in intervals.items()
    ]
    return Finding(
        verdict_by_count(satisfied, len(intervals)), f"{satisfied} of {len(intervals)}{so_far}: {'; '.join(words)}"
    )


def is_within(interval: Interval, bounds: Bounds) -> bool:
    if between := bounds.get("between"):
        return between[0] <= interval.mean <= between[1]
    return interval.high <= bounds.get("at_most", math.inf) and interval.low >= bounds.get("at_least", -math.inf)


def peak(
    table: Table,
    rows: Rows,
    measure: str,
    option: str,
    at: float,
    methods: Sequence[str] = (),
    corpora: Sequence[str] = (),
) -> Finding | None:
    """On each corpus the given setting must be confirmed better than both ends of the axis, and no other setting confirmed
    better than it (paired tests, Holm's correction over all). Holds if this is so on every corpus; partly if on some, or if
    one end is confirmed worse; otherwise not here."""
    order = sorted((x for x in table.settings.values() if option in x.options), key=lambda x: float(x.options[option]))
    middle = next(setting for setting in order if setting.options[option] == at)
    values_ = {
        (method, corpus): axis(table, rows, (method, corpus), measure, order)
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
    full = sum(min(ends[group]) > 0 and not any(side[key] < 0 for key in side if key[:2] == group) for group in groups)
    verdict = verdict_by_count(full, len(groups))
    if verdict == NOT_HERE and any(max(both) > 0 for both in ends.values()):
        verdict = PARTLY
    words = [describe_axis(table, group, values_[group], measure, (order[0], middle, order[-1])) for group in groups]
    return Finding(verdict, f"{full} of {len(groups)} with a peak there. " + "; ".join(words))


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
