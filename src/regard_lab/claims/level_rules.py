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
from regard_lab.rows import Place, Row
from regard_lab.statistics import Interval, interval, paired
from regard_lab.tables.table import Setting, Table


def below(table: Table, rows: Rows, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Holds if the whole interval is below the bound on every corpus; partly if on some."""
    return count_within(table, rows, measure, methods, lambda one: one.high < bound, f"below {bound:g}")


def above(table: Table, rows: Rows, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Holds if the whole interval is above the bound for every method and corpus; partly if for some."""
    return count_within(table, rows, measure, methods, lambda one: one.low > bound, f"above {bound:g}")


def count_within(
    table: Table, rows: Rows, measure: str, methods: Sequence[str], is_kept: Callable[[Interval], bool], side: str
) -> Finding | None:
    intervals_ = dict(intervals(table, rows, measure, methods))
    if not intervals_:
        return None
    kept = sum(map(is_kept, intervals_.values()))
    words = f"{kept} of {len(intervals_)} {side}: {listed(table, intervals_, measure)}"
    return Finding(verdict_by_count(kept, len(intervals_)), words)


def near(
    table: Table, rows: Rows, method: str, corpora: Sequence[str], measure: str, value: float, within: float
) -> Finding | None:
    """Holds if the whole interval is within the margin around the printed value on every corpus; partly if the mean is on
    some."""
    intervals_ = {
        place: interval_ for place, interval_ in intervals(table, rows, measure, [method]) if place[1] in corpora
    }
    if not intervals_:
        return None
    form = table.measure(measure)
    inside = sum(max(value - interval_.low, interval_.high - value) <= within for interval_ in intervals_.values())
    close = sum(abs(interval_.mean - value) <= within for interval_ in intervals_.values())
    verdict = HOLDS if inside == len(intervals_) else PARTLY if close else NOT_HERE
    words = f"{listed(table, intervals_, measure)} (printed: {shown(value, form)}; margin: {shown(within, form)})"
    return Finding(verdict, words)


def intervals(table: Table, rows: Rows, measure: str, methods: Sequence[str] = ()) -> Iterator[tuple[Place, Interval]]:
    for cell in table.cells():
        if not methods or cell.method in methods:
            interval_ = interval(list(by_seed(rows.get(cell.key, ()), measure).values()))
            if interval_ is not None and interval_.half is not None:
                yield cell.key, interval_


def listed(table: Table, intervals_: Mapping[Place, Interval], measure: str) -> str:
    form = table.measure(measure)
    seeds = span([interval_.n for interval_ in intervals_.values()])
    several = len({place[0] for place in intervals_}) > 1 or len(table.settings) > 1
    values = [
        f"{table.corpora[place[1]].title}{f' ({table.title_of(place)})' if several else ''} "
        f"{shown(interval_.mean, form)} ± {shown(interval_.half, form)}"
        for place, interval_ in intervals_.items()
    ]
    return f"{', '.join(values)}; {seeds} seeds"


def falls(table: Table, rows: Rows, value: str, methods: Sequence[str] = ()) -> Finding | None:
    """The value after the last epoch minus that after the first. Holds if the whole interval is below 0 on every corpus;
    partly if on some."""
    ends = {cell.key: path_ends(rows.get(cell.key, ()), value) for cell in table.cells()}
    changes = {
        place: (interval([last - first for first, last in ends_]), ends_)
        for place, ends_ in ends.items()
        if len(ends_) > 1 and (not methods or place[0] in methods)
    }
    if not changes:
        return None
    fallen = sum(change is not None and change.high < 0 for change, _ in changes.values())
    words = [
        f"{table.corpora[place[1]].title} {fmean(first for first, _ in ends_):.3f} → {fmean(last for _, last in ends_):.3f}"
        for place, (_, ends_) in changes.items()
    ]
    seeds = span([len(ends_) for _, ends_ in changes.values()])
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
    counts_ = {}
    for method in methods:
        rows_ = [row for place, several in rows.items() if place[0] == method for row in several]
        runs = [row for row in rows_ if "error" not in row or "diverged" in row["error"]]
        if runs:
            counts_[method] = (sum(map(is_unstable, runs)), len(runs))
    if not counts_:
        return None
    kept = sum(band(*counts) == expected for counts in counts_.values())
    words = [f"{table.methods[method].title}: {wrong} of {count} runs" for method, (wrong, count) in counts_.items()]
    return Finding(verdict_by_count(kept, len(counts_)), "failed: " + "; ".join(words))


def is_unstable(row: Row) -> bool:
    return "error" in row or any(last > first for first, last in path_ends([row], "loss"))


def band(wrong: int, count: int) -> str:
    return "never" if not wrong else "occasionally" if 2 * wrong < count else "usually"


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
    intervals_: dict[Place, Interval] = {}
    for cell in table.cells():
        if cell.method in (methods or [method]):
            values = by_seed(rows.get(cell.key, ()), "speed")
            reference = by_seed(rows.get((against, *cell.key[1:]), ()), "speed") if against in table.methods else {}
            ratios = [value / reference.get(seed, 1.0) for seed, value in values.items()]
            interval_ = interval(ratios)
            if interval_ is not None and interval_.half is not None:
                intervals_[cell.key] = interval_
    if not intervals_:
        return None
    kept = sum(keeps(interval_, bounds) for interval_ in intervals_.values())
    planned = sum(cell.method in (methods or [method]) for cell in table.cells())
    so_far = f" ({planned - len(intervals_)} not measured yet)" if planned > len(intervals_) else ""
    words = [
        f"{table.title_of(place)}, {table.corpora[place[1]].title}: {interval_.mean:.3f} ± {interval_.half:.3f}"
        for place, interval_ in intervals_.items()
    ]
    return Finding(verdict_by_count(kept, len(intervals_)), f"{kept} of {len(intervals_)}{so_far}: {'; '.join(words)}")


def keeps(one: Interval, bounds: Bounds) -> bool:
    if between := bounds.get("between"):
        return between[0] <= one.mean <= between[1]
    return one.high <= bounds.get("at_most", math.inf) and one.low >= bounds.get("at_least", -math.inf)


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
    form, side = table.measure(measure), table.measure(measure).better or 1
    means = {name: sum(values_.values()) / len(values_) for name, values_ in values.items() if values_}
    best = max(means, key=lambda name: means[name])

    def at_setting(name: str) -> str:
        return f"{shown(side * means[name], form)} at {table.settings[name].title}"

    several = f"{table.methods[group[0]].title}, " if len(table.methods) > 1 else ""
    rest = ", ".join(at_setting(setting.name) for setting in named if setting.name in means and setting.name != best)
    return f"{several}{table.corpora[group[1]].title}: best {at_setting(best)}; {rest}"
