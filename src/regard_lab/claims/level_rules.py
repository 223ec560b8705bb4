"""Rules that read levels, paths and shares off a table: verdicts where a claim is not "this is better than that".

Intervals are of 95 % over seeds; a place with one seed alone has none, and is left out. As in `rules`, None where nothing is
measured yet, and the docstring stands on the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Literal

from regard_lab.claims.rules import Rows
from regard_lab.claims.verdicts import HOLDS, NOT_HERE, PARTLY, Finding, all_some_none, span
from regard_lab.comparisons import by_seed
from regard_lab.measures import shown
from regard_lab.running.results import Row
from regard_lab.statistics import Interval, interval
from regard_lab.tables.table import Place, Table


def below(table: Table, rows: Rows, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Holds where the whole interval lies below the bound on every corpus; partly where on some."""
    return of_bound(table, rows, measure, methods, lambda one: one.high < bound, f"below {bound:g}")


def above(table: Table, rows: Rows, measure: str, bound: float, methods: Sequence[str] = ()) -> Finding | None:
    """Holds where the whole interval lies above the bound for every method and corpus; partly where for some."""
    return of_bound(table, rows, measure, methods, lambda one: one.low > bound, f"above {bound:g}")


def of_bound(
    table: Table, rows: Rows, measure: str, methods: Sequence[str], is_kept: Callable[[Interval], bool], side: str
) -> Finding | None:
    found = dict(intervals(table, rows, measure, methods))
    if not found:
        return None
    kept = sum(map(is_kept, found.values()))
    words = f"{kept} of {len(found)} {side}: {listed(table, found, measure)}"
    return Finding(all_some_none(kept, len(found)), words)


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
    paths = {cell.key: histories(rows.get(cell.key, ()), value) for cell in table.cells()}
    ends = {
        place: (interval([path[-1] - path[0] for path in own]), own)
        for place, own in paths.items()
        if len(own) > 1 and (not methods or place[0] in methods)
    }
    if not ends:
        return None
    fallen = sum(change is not None and change.high < 0 for change, _ in ends.values())
    words = [
        f"{table.corpora[place[1]].title} {fmean(path[0] for path in own):.3f} → {fmean(path[-1] for path in own):.3f}"
        for place, (_, own) in ends.items()
    ]
    seeds = span([len(own) for _, own in ends.values()])
    return Finding(all_some_none(fallen, len(ends)), f"{fallen} of {len(ends)} fall: {', '.join(words)}; {seeds} seeds")


def histories(rows: Sequence[Row], value: str) -> list[list[float]]:
    """Of the runs that did not fail, those that have two points or more."""
    found = [row.get("history", {}).get(value, []) for row in rows if "error" not in row]
    return [path for path in found if len(path) > 1]


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
            found[method] = (sum(map(went_wrong, runs)), len(runs))
    if not found:
        return None
    kept = sum(band(*counts) == expected for counts in found.values())
    words = [f"{table.methods[method].title}: {wrong} of {count} runs" for method, (wrong, count) in found.items()]
    return Finding(all_some_none(kept, len(found)), "failed: " + "; ".join(words))


def went_wrong(row: Row) -> bool:
    losses = row.get("history", {}).get("loss", [])
    return "error" in row or (len(losses) > 1 and losses[-1] > losses[0])


def band(wrong: int, count: int) -> str:
    return "never" if not wrong else "occasionally" if 2 * wrong < count else "usually"


def speed(
    table: Table,
    rows: Rows,
    against: str,
    method: str = "",
    methods: Sequence[str] = (),
    at_most: float | None = None,
    at_least: float | None = None,
    between: Sequence[float] = (),
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
    kept = sum(keeps(one, at_most, at_least, between) for one in found.values())
    planned = sum(cell.method in (methods or [method]) for cell in table.cells())
    so_far = f" ({planned - len(found)} not measured yet)" if planned > len(found) else ""
    words = [
        f"{table.title_of(place)}, {table.corpora[place[1]].title}: {one.mean:.3f} ± {one.half:.3f}"
        for place, one in found.items()
    ]
    return Finding(all_some_none(kept, len(found)), f"{kept} of {len(found)}{so_far}: {'; '.join(words)}")


def keeps(one: Interval, at_most: float | None, at_least: float | None, between: Sequence[float]) -> bool:
    if between:
        return between[0] <= one.mean <= between[1]
    return (at_most is None or one.high <= at_most) and (at_least is None or one.low >= at_least)
