"""Rules that test differences, paired by seed and corrected after Holm over a claim's comparisons: verdicts from a table's rows.

A rule takes the table, its rows by place, and the claim's arguments; None where nothing is measured yet. Its docstring stands
on the page.
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
    Judged,
    judge,
    told,
    usable,
    verdict_by_count,
    with_interval,
)
from regard_lab.comparisons import by_seed
from regard_lab.measures import Measure, shown
from regard_lab.rows import Place, Row
from regard_lab.statistics import paired
from regard_lab.tables.table import Table

Rows = Mapping[Place, Sequence[Row]]
Pairs = Sequence[Sequence[str]]


class Chosen(TypedDict, total=False):
    """What is compared: methods, or settings; where nothing is said, on every corpus and at every setting."""

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
    **chosen: Unpack[Chosen],
) -> Finding | None:
    """Of methods against each other, or of settings: holds where every mean difference favours the first and at least half
    are confirmed; partly where one or more is confirmed; not here where none is. Where the claim says "usually", most must
    be confirmed; where it says "significant", all."""
    measures = [measure] if isinstance(measure, str) else list(measure)  # of one unit
    places = list(chosen_places(table, chosen))
    tests: list[Difference] = []
    paper: list[bool] = []
    for name in measures:
        side = sign or table.measure(name).better or 1
        of = f", {table.measure(name).title}" if len(measures) > 1 else ""
        tests += (Difference(test.name + of, test.found) for test in differences(table, rows, places, name, side))
        paper += printed_sides(table, places, name, side)
    judged = judge(usable(tests), alpha)
    if not judged.tests:
        return None
    words = told(judged, table.measure(measures[0]), alpha, len(places) * len(measures))
    if paper:
        words += f"; in the paper's own numbers {sum(paper)} of {len(paper)} are in favour"
    return Finding(verdict(judged, need), words)


def verdict(judged: Judged, need: str) -> str:
    many, count = judged.confirmed, len(judged.tests)
    enough = {"half": judged.favour == count and 2 * many >= count, "most": 2 * many > count, "all": many == count}
    return HOLDS if enough[need] else PARTLY if many else NOT_HERE


def chosen_places(table: Table, chosen: Chosen) -> Iterator[tuple[Place, Place]]:
    settings, corpora = chosen.get("settings", ()), chosen.get("corpora", ())
    if at := [settings] if settings else chosen.get("at", ()):
        return of_settings(table, at, chosen.get("methods", ()), corpora)
    return of_pairs(table, chosen.get("pairs", ()), corpora, chosen.get("only", ()))


def of_pairs(
    table: Table, pairs: Pairs, corpora: Sequence[str], only: Sequence[str] = ()
) -> Iterator[tuple[Place, Place]]:
    """`only`: at these settings."""
    there = {cell.key for cell in table.cells()}
    for corpus in corpora or table.corpora:
        for setting in only or table.settings:
            for one, other in pairs:
                if {(one, corpus, setting), (other, corpus, setting)} <= there:
                    yield (one, corpus, setting), (other, corpus, setting)


def of_settings(
    table: Table, at: Pairs, methods: Sequence[str] = (), corpora: Sequence[str] = ()
) -> Iterator[tuple[Place, Place]]:
    """A setting against another, of every method and corpus, or of these."""
    there = [cell.key for cell in table.cells()]
    for one, other in at:
        for method, corpus, setting in there:
            wanted = (not methods or method in methods) and (not corpora or corpus in corpora)
            if wanted and setting == one and (method, corpus, other) in there:
                yield (method, corpus, one), (method, corpus, other)


def differences(
    table: Table, rows: Rows, places: Iterable[tuple[Place, Place]], measure: str, side: int
) -> Iterator[Difference]:
    for one, other in places:
        found = paired(*(signed_values(rows, place, measure, side) for place in (one, other)))
        if found is not None:
            yield Difference(named(table, one, other), found)


def signed_values(rows: Rows, place: Place, measure: str, side: int) -> dict[int, float]:
    return {seed: side * value for seed, value in by_seed(rows.get(place, ()), measure).items()}


def named(table: Table, one: Place, other: Place) -> str:
    against = table.methods[other[0]].title if one[0] != other[0] else table.settings[other[2]].title
    return f"{table.title_of(one)} − {against}, {table.corpora[one[1]].title}"


def printed_sides(table: Table, places: Iterable[tuple[Place, Place]], measure: str, side: int) -> Iterator[bool]:
    """Of each printed difference whether it favours the first."""
    for one, other in places:
        if measure in table.corpora[one[1]].measures:
            ours, theirs = (table.printed_value(place, measure) for place in (one, other))
            if ours is not None and theirs is not None:
                yield side * (ours - theirs) > 0


def same(table: Table, rows: Rows, measure: str, pairs: Pairs, corpora: Sequence[str] = ()) -> Finding | None:
    """Holds where no difference is confirmed on either side; partly where at most half are; else not here. That none is
    confirmed does not prove that there is none: the intervals say how large it may be."""
    places = list(of_pairs(table, pairs, corpora))
    judged = judge(usable(list(differences(table, rows, places, measure, 1))))
    if not judged.tests:
        return None
    sure = judged.confirmed + judged.opposed
    found = HOLDS if not sure else PARTLY if 2 * sure <= len(judged.tests) else NOT_HERE
    return Finding(found, told(judged, table.measure(measure), ALPHA, len(places)))


def no_gain(table: Table, rows: Rows, measure: str, pairs: Pairs, corpora: Sequence[str] = ()) -> Finding | None:
    """Holds where no gain of the first over the second is confirmed; partly where at most half are; else not here."""
    side, places = table.measure(measure).better or 1, list(of_pairs(table, pairs, corpora))
    judged = judge(usable(list(differences(table, rows, places, measure, side))))
    if not judged.tests:
        return None
    many = judged.confirmed
    found = HOLDS if not many else PARTLY if 2 * many <= len(judged.tests) else NOT_HERE
    return Finding(found, told(judged, table.measure(measure), ALPHA, len(places)))


def close(
    table: Table,
    rows: Rows,
    measure: str,
    at: Pairs,
    within: float,
    methods: Sequence[str] = (),
    corpora: Sequence[str] = (),
) -> Finding | None:
    """One setting against another: holds where it is at most so much worse, by the whole interval, for every method and
    corpus; partly where for some."""
    form, places = table.measure(measure), list(of_settings(table, at, methods, corpora))
    tests = usable(list(differences(table, rows, places, measure, form.better or 1)))
    if not tests:
        return None
    kept = sum(test.found.difference.low >= -within for test in tests)
    words = [f"{test.name} {with_interval(test, form)}" for test in tests]
    head = f"{kept} of {len(tests)} at most {shown(within, form)} worse"
    return Finding(verdict_by_count(kept, len(tests)), f"{head}: {'; '.join(words)}")


def larger_gain(table: Table, rows: Rows, measure: str, pairs: Pairs, on: Pairs) -> Finding | None:
    """The gain of the first method over the second on one corpus minus that on another: as for "better"."""
    side, tests = table.measure(measure).better or 1, []
    for first, second in pairs:
        for one, other in on:
            found = paired(*(gains(rows, first, second, corpus, measure, side) for corpus in (one, other)))
            if found is not None:
                names = (table.methods[first].title, table.corpora[one].title, table.corpora[other].title)
                tests.append(Difference("{}, {} − {}".format(*names), found))
    return of_differences(tests, table.measure(measure), len(pairs) * len(on))


def gains(rows: Rows, first: str, second: str, corpus: str, measure: str, side: int) -> dict[int, float]:
    return minus(*(signed_values(rows, (method, corpus, ""), measure, side) for method in (first, second)))


def minus(one: Mapping[int, float], other: Mapping[int, float]) -> dict[int, float]:
    """Differences of the seeds that both have."""
    return {seed: one[seed] - other[seed] for seed in one.keys() & other.keys()}


def lower_on(
    table: Table,
    rows: Rows,
    measure: str,
    on: Pairs,
    methods: Sequence[str] = (),
) -> Finding | None:
    """A value on one corpus against that on another, the smaller favouring the claim: as for "better"."""
    tests, several = [], list(methods or table.methods)
    for method in several:
        for one, other in on:
            high, low = (by_seed(rows.get((method, corpus, ""), ()), measure) for corpus in (other, one))
            if (found := paired(high, low)) is not None:
                names = (table.methods[method].title, table.corpora[other].title, table.corpora[one].title)
                tests.append(Difference("{}, {} − {}".format(*names), found))
    return of_differences(tests, table.measure(measure), len(several) * len(on))


def of_differences(tests: Sequence[Difference], measure: Measure, planned: int) -> Finding | None:
    judged = judge(usable(tests))
    if not judged.tests:
        return None
    return Finding(verdict(judged, "half"), told(judged, measure, ALPHA, planned))


WEIGHT = Measure("weight", 1, 3)


def heavier(
    table: Table, rows: Rows, corpus: str, methods: Sequence[str], word: str, than: Sequence[str]
) -> Finding | None:
    """The weight of one word of a drawn text minus that of others, over seeds: as for "better"."""
    tests = []
    for method in methods:
        for other in than:
            weights = [weights_of(rows.get((method, corpus, ""), ()), [form]) for form in (word, other)]
            if (found := paired(*weights)) is not None:
                tests.append(Difference(f"{table.methods[method].title}, “{word}” − “{other}”", found))
    return of_differences(tests, WEIGHT, len(methods) * len(than))


def rests_on(
    table: Table,
    rows: Rows,
    words: Mapping[str, Collection[str]],
    methods: Sequence[str] = (),
    pairs: Pairs = (),
) -> Finding | None:
    """The weight of some words of a corpus' drawn text, taken together, minus what they would have if all its words
    weighed alike; of two methods, minus what the other gives them. Over seeds, as for "better"."""
    tests = []
    for corpus, several in words.items():
        said = ", ".join(f"“{word}”" for word in several)
        for one, other in [*((method, "") for method in methods), *pairs]:
            own = rows.get((one, corpus, ""), ())
            beside = weights_of(rows.get((other, corpus, ""), ()), several) if other else weights_of(own, several, True)
            if (found := paired(weights_of(own, several), beside)) is not None:
                against = table.methods[other].title if other else "all alike"
                tests.append(Difference(f"{table.methods[one].title} − {against}, {said}", found))
    return of_differences(tests, WEIGHT, len(words) * (len(methods) + len(pairs)))


def weights_of(rows: Sequence[Row], words: Collection[str], alike: bool = False) -> dict[int, float]:
    """By seed; `alike`: if every word weighed the same."""
    found = {}
    for row in rows:
        tokens = [token for text in row.get("texts", ()) for token in text["tokens"]]
        own = [1 / len(tokens) if alike else token["weight"] for token in tokens if token["text"].lower() in words]
        if own:
            found[row["seed"]] = sum(own)
    return found
