"""The rule "peak": a measure along an axis of settings, such as the initial p. Its docstring stands on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from regard_lab.claims.rules import Rows, signed_values
from regard_lab.claims.verdicts import NOT_HERE, PARTLY, Difference, Finding, all_some_none, sides
from regard_lab.measures import shown
from regard_lab.statistics import paired
from regard_lab.tables.table import Setting, Table


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
    verdict = all_some_none(full, len(groups))
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
