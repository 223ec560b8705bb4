"""Rules that read levels, paths and shares off a table: verdicts where a claim is not "this is better than that".

Intervals are of 95 % over seeds; a place with one seed alone has none, and is left out. As in `rules`, None where nothing is
measured yet, and the docstring stands on the page.
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
    """Holds where the whole interval lies below the bound on every corpus; partly where on some."""
    return count_within(table, rows, measure, methods, lambda one: one.high < bound, f"below {bound:g}")


def above(table: Table, rows: Rows, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Holds where the whole interval lies above the bound for every method and corpus; partly where for some."""
    return count_within(table, rows, measure, methods, lambda one: one.low > bound, f"above {bound:g}")


def count_within(
    table: Table, rows: Rows, measure: str, methods: Sequence[str], is_kept: Callable[[Interval], bool], side: str
) -> Finding | None:
    found = dict(intervals(table, rows, measure, methods))
    if not found:
        return None
    kept = sum(map(is_kept, found.values()))
    words = f"{kept} of {len(found)} {side}: {listed(table, found, measure)}"
    return Finding(verdict_by_count(kept, len(found)), words)


def near(
    table: Table, rows: Rows, method: str, corpora: Sequence[str], measure: str, value: float, within: float
) -> Finding | None:
    """Holds where the whole interval lies within so much of the printed value on every corpus; partly where the mean
    does on some."""
    found = {place: one for place, one in intervals(table, rows, measure, [method]) if place[1] in corpora}
    if not found:
        return None
    form = table.measure(measure)
    sure = sum(max(value - one.low, one.high - value) <= within for one in found.values())
    close = sum(abs(one.mean - value) <= within for one in found.values())
    verdict = HOLDS if sure == len(found) else PARTLY if close else NOT_HERE
    words = f"{listed(table, found, measure)} (printed: {shown(value, form)}; near: within {shown(within, form)})"
    return Finding(verdict, words)


def intervals(table: Table, rows: Rows, measure: str, methods: Sequence[str] = ()) -> Iterator[tuple[Place, Interval]]:
    for cell in table.cells():
        if not methods or cell.method in methods:
            found = interval(list(by_seed(rows.get(cell.key, ()), measure).values()))
            if found is not None and found.half is not None:
                yield cell.key, found


def listed(table: Table, found: Mapping[Place, Interval], measure: str) -> str:
    form = table.measure(measure)
    seeds = span([one.n for one in found.values()])
    several = len({place[0] for place in found}) > 1 or len(table.settings) > 1
    values = [
        f"{table.corpora[place[1]].title}{f' ({table.title_of(place)})' if several else ''} "
        f"{shown(one.mean, form)} ± {shown(one.half, form)}"
        for place, one in found.items()
    ]
    return f"{', '.join(values)}; {seeds} seeds"


def falls(table: Table, rows: Rows, value: str, methods: Sequence[str] = ()) -> Finding | None:
    """The value after the last epoch minus that after the first. Holds where its whole interval lies below 0 on every
    corpus; partly where on some."""
    ends = {cell.key: path_ends(rows.get(cell.key, ()), value) for cell in table.cells()}
    changes = {
        place: (interval([last - first for first, last in own]), own)
        for place, own in ends.items()
        if len(own) > 1 and (not methods or place[0] in methods)
    }
    if not changes:
        return None
    fallen = sum(change is not None and change.high < 0 for change, _ in changes.values())
    words = [
        f"{table.corpora[place[1]].title} {fmean(first for first, _ in own):.3f} → {fmean(last for _, last in own):.3f}"
        for place, (_, own) in changes.items()
    ]
    seeds = span([len(own) for _, own in changes.values()])
    head = f"{fallen} of {len(changes)} fall"
    return Finding(verdict_by_count(fallen, len(changes)), f"{head}: {', '.join(words)}; {seeds} seeds")


def path_ends(rows: Sequence[Row], value: str) -> list[tuple[float, float]]:
    """The first and last point of a path, of the runs that did not fail and have two points or more."""
    paths = [row.get("history", {}).get(value, []) for row in rows if "error" not in row]
    ends = [(path[0], path[-1]) for path in paths if len(path) > 1]
    return [(first, last) for first, last in ends if first is not None and last is not None]


def unstable(
    table: Table, rows: Rows, methods: Sequence[str], expected: Literal["never", "occasionally", "usually"]
) -> Finding | None:
    """A run failed that diverged (its loss no number, or above a million) or whose loss ended above where it began.
    Never: none; occasionally: some, but fewer than half; usually: half or more. Holds where every method named is in the
    expected band, partly where some are."""
    found = {}
    for method in methods:
        own = [row for place, several in rows.items() if place[0] == method for row in several]
        runs = [row for row in own if "error" not in row or "diverged" in row["error"]]
        if runs:
            found[method] = (sum(map(is_unstable, runs)), len(runs))
    if not found:
        return None
    kept = sum(band(*counts) == expected for counts in found.values())
    words = [f"{table.methods[method].title}: {wrong} of {count} runs" for method, (wrong, count) in found.items()]
    return Finding(verdict_by_count(kept, len(found)), "failed: " + "; ".join(words))


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
    """Relative speeds by shape and machine. Holds where every interval keeps to the bound (a band: where every mean
    does), partly where some do."""
    found: dict[Place, Interval] = {}
    for cell in table.cells():
        if cell.method in (methods or [method]):
            own = by_seed(rows.get(cell.key, ()), "speed")
            other = by_seed(rows.get((against, *cell.key[1:]), ()), "speed") if against in table.methods else {}
            ratios = [value / other.get(seed, 1.0) for seed, value in own.items()]
            one = interval(ratios)
            if one is not None and one.half is not None:
                found[cell.key] = one
    if not found:
        return None
    kept = sum(keeps(one, bounds) for one in found.values())
    planned = sum(cell.method in (methods or [method]) for cell in table.cells())
    so_far = f" ({planned - len(found)} not measured yet)" if planned > len(found) else ""
    words = [
        f"{table.title_of(place)}, {table.corpora[place[1]].title}: {one.mean:.3f} ± {one.half:.3f}"
        for place, one in found.items()
    ]
    return Finding(verdict_by_count(kept, len(found)), f"{kept} of {len(found)}{so_far}: {'; '.join(words)}")


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
    """On each corpus the setting named must be confirmed better than both ends of the axis, and no other setting
    confirmed better than it (paired tests, Holm over all). Holds where that is so on every corpus; partly where on
    some, or where one end is confirmed worse; else not here."""
    order = sorted((x for x in table.settings.values() if option in x.options), key=lambda x: float(x.options[option]))
    middle = next(setting for setting in order if setting.options[option] == at)
    found = {
        (method, corpus): axis(table, rows, (method, corpus), measure, order)
        for method in methods or table.methods
        for corpus in corpora or table.corpora
    }
    tests = {
        (*group, setting.name): Difference("", difference)
        for group, values in found.items()
        for setting in order
        if setting is not middle
        and (difference := paired(values[middle.name], values[setting.name])) is not None
        and difference.p is not None
    }
    if not tests:
        return None
    side = dict(zip(tests, sides(list(tests.values())), strict=True))
    groups = sorted({key[:2] for key in tests}, key=list(found).index)
    ends = {group: [side.get((*group, end.name), 0) for end in (order[0], order[-1])] for group in groups}
    full = sum(min(ends[group]) > 0 and not any(side[key] < 0 for key in side if key[:2] == group) for group in groups)
    verdict = verdict_by_count(full, len(groups))
    if verdict == NOT_HERE and any(max(both) > 0 for both in ends.values()):
        verdict = PARTLY
    words = [of_axis(table, group, found[group], measure, (order[0], middle, order[-1])) for group in groups]
    return Finding(verdict, f"{full} of {len(groups)} with a peak there. " + "; ".join(words))


def axis(
    table: Table, rows: Rows, group: tuple[str, str], measure: str, order: Sequence[Setting]
) -> dict[str, dict[int, float]]:
    side = table.measure(measure).better or 1
    return {setting.name: signed_values(rows, (*group, setting.name), measure, side) for setting in order}


def of_axis(
    table: Table,
    group: tuple[str, str],
    values: Mapping[str, Mapping[int, float]],
    measure: str,
    named: Sequence[Setting],
) -> str:
    form, side = table.measure(measure), table.measure(measure).better or 1
    means = {name: sum(own.values()) / len(own) for name, own in values.items() if own}
    best = max(means, key=lambda name: means[name])

    def said(name: str) -> str:
        return f"{shown(side * means[name], form)} at {table.settings[name].title}"

    several = f"{table.methods[group[0]].title}, " if len(table.methods) > 1 else ""
    rest = ", ".join(said(setting.name) for setting in named if setting.name in means and setting.name != best)
    return f"{several}{table.corpora[group[1]].title}: best {said(best)}; {rest}"
