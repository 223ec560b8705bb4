"""Rules that look at several measures of a run beside each other: signs, order, shares of seeds, and numbers of a corpus.

Intervals are of 95 % over seeds; a place with one seed alone is left out. As in `rules`, None where nothing is measured yet,
and the docstring stands on the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from regard_lab.claims.difference_rules import Pairs, Rows, minus, named, of_differences, of_pairs, signed_values
from regard_lab.claims.level_rules import path_ends
from regard_lab.claims.verdicts import HOLDS, NOT_HERE, PARTLY, Difference, Finding, several, span, verdict_by_count
from regard_lab.comparisons import by_seed
from regard_lab.measures import Measure, shown, signed, value_of
from regard_lab.rows import Place, Row
from regard_lab.statistics import Interval, interval, paired
from regard_lab.tables.table import Table

Names = Sequence[str]
SHOWN = 5  # conditions told with their numbers


class Condition(NamedTuple):
    """One measure on one side of another, or of a number, at one place."""

    name: str
    found: Interval  # of what must be above 0
    said: str

    @property
    def is_kept(self) -> bool:
        return self.found.low > 0


def stands(
    table: Table,
    rows: Rows,
    where: Sequence[Sequence[str | float]],
    methods: Names = (),
    corpora: Names = (),
    settings: Names = (),
    need: Literal["all", "most"] = "all",
) -> Finding | None:
    """Measures of a model in an order, such as attention of positive tokens above that of neutral ones, or above it less
    a margin, or on one side of a number. Holds where the whole interval of every difference, paired by seed, lies on its
    side for every model and corpus (where the claim says "mostly", for more than half); partly where for some."""
    found: list[Condition] = []
    for place in places(table, methods, corpora, settings):
        for left, side, right, *margin in where:
            more = float(margin[0]) if margin else 0.0
            one = condition(table, rows.get(place, ()), place, str(left), str(side), right, more)
            found += [one] if one is not None else []
    if not found:
        return None
    kept = sum(one.is_kept for one in found)
    missed = [one for one in found if not one.is_kept]
    told = missed or found
    others = f" and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    values = "; ".join(f"{one.name}: {one.said}" for one in told[:SHOWN])
    seeds = span([one.found.n for one in found])
    head = f"{kept} of {len(found)} in the order said, {seeds} seeds"
    verdict = HOLDS if need == "most" and 2 * kept > len(found) else verdict_by_count(kept, len(found))
    return Finding(verdict, f"{head}; {'not so: ' if missed else ''}{values}{others}")


def places(table: Table, methods: Names, corpora: Names, settings: Names) -> Iterator[Place]:
    for cell in table.cells():
        wanted = (methods, corpora, settings)
        if all(not names or name in names for names, name in zip(wanted, cell.key, strict=True)):
            yield cell.key


def condition(
    table: Table, rows: Sequence[Row], place: Place, left: str, side: str, right: str | float, margin: float = 0.0
) -> Condition | None:
    """The left one on a side of the right one and a margin; None where a row has no such measure, or there is one seed
    alone."""
    one = by_seed(rows, left)
    other = by_seed(rows, right) if isinstance(right, str) else dict.fromkeys(one, float(right))
    both = sorted(one.keys() & other.keys())
    sign = 1 if side == ">" else -1
    found = interval([sign * (one[seed] - other[seed] - margin) for seed in both])
    if found is None or found.half is None:
        return None
    form = table.measure(left)
    means = [shown(sum(own[seed] for seed in both) / len(both), form) for own in (one, other)]
    bound = table.measure(right).title if isinstance(right, str) else shown(right, form)
    bound += f" {'−' if margin < 0 else '+'} {shown(abs(margin), form)}" if margin else ""
    return Condition(f"{titled(table, place)}, {form.title} {side} {bound}", found, told(means, found, form, right))


def told(means: Sequence[str], found: Interval, form: Measure, right: str | float) -> str:
    beside = f"{means[0]} and {means[1]}" if isinstance(right, str) else means[0]
    return f"{beside} (± {shown(found.half, form)})"


def titled(table: Table, place: Place) -> str:
    """A corpus, with method and setting where there are several."""
    own = table.title_of(place) if len(table.methods) > 1 or len(table.settings) > 1 else ""
    return ", ".join(filter(None, (table.corpora[place[1]].title, own)))


def often(
    table: Table,
    rows: Rows,
    measures: Names,
    least: float = 0.8,
    methods: Names = (),
    corpora: Names = (),
    settings: Names = (),
) -> Finding | None:
    """Patterns that a seed shows or doesn't. Holds where every one is shown by at least so large a share of the seeds
    (0.8 where nothing is said) for every model and corpus; partly where some are."""
    found = {}
    for place in places(table, methods, corpora, settings):
        for measure in measures:
            own = [value for row in rows.get(place, ()) if (value := value_of(row, measure)) is not None]
            if len(own) > 1:
                found[place, measure] = (sum(own), len(own))
    if not found:
        return None
    kept = sum(count >= least * of for count, of in found.values())
    words = []
    for place in dict.fromkeys(place for place, _ in found):
        each = [
            f"{table.measure(measure).title.removeprefix('% seeds, ')} {count:g} of {of}"
            for (own, measure), (count, of) in found.items()
            if own == place
        ]
        words.append(f"{titled(table, place)}: {', '.join(each)}")
    return Finding(verdict_by_count(kept, len(found)), f"{kept} of {len(found)} often enough; {'; '.join(words)}")


def equal(table: Table, rows: Rows, corpora: Names = ()) -> Finding | None:
    """Numbers of a corpus, of which chance has no part. Holds where every one is the printed one; partly where some are."""
    found: dict[str, list[bool]] = {}
    for cell in table.cells():
        if corpora and cell.corpus.name not in corpora:
            continue
        for measure in cell.corpus.measures:
            form = table.measure(measure)
            theirs, ours = (
                table.printed_value(cell.key, measure),
                list(by_seed(rows.get(cell.key, ()), measure).values()),
            )
            if theirs is not None and ours:
                found.setdefault(cell.corpus.title, []).append(shown(ours[0], form) == shown(theirs, form))
    if not found:
        return None
    every = [one for several in found.values() for one in several]
    words = [f"{title} {sum(several)} of {len(several)}" for title, several in found.items()]
    return Finding(verdict_by_count(sum(every), len(every)), f"as printed: {', '.join(words)}")


def moves(
    table: Table,
    rows: Rows,
    rises: Names = (),
    falls: Names = (),
    methods: Names = (),
    corpora: Names = (),
    settings: Names = (),
) -> Finding | None:
    """Values along training, after the last epoch less before the first step. Holds where the whole interval lies on the
    side said for every value, model and corpus; partly where for some."""
    kept, words, seeds = 0, [], []
    for place in places(table, methods, corpora, settings):
        for value in (*rises, *falls):
            ends = path_ends(rows.get(place, ()), value)
            change = interval([(after - before) * (1 if value in rises else -1) for before, after in ends])
            if change is None or change.half is None:
                continue
            kept += change.low > 0
            seeds.append(len(ends))
            before, after = (sum(end[at] for end in ends) / len(ends) for at in (0, 1))
            words.append(f"{titled(table, place)}, {value.partition('.')[2] or value} {before:.3g} → {after:.3g}")
    if not words:
        return None
    return Finding(
        verdict_by_count(kept, len(words)),
        f"{kept} of {len(words)}: {'; '.join(words)}; {span(seeds)} seeds".replace(" -", " −"),
    )


def gap(
    table: Table,
    rows: Rows,
    measure: str,
    less: str,
    methods: Sequence[str] = (),
    pairs: Pairs = (),
    corpora: Sequence[str] = (),
) -> Finding | None:
    """One measure of a model less another of it, such as accuracy after a round less that before; of two models, the gap
    of the one less that of the other. As for "better"."""
    side = table.measure(measure).better or 1

    def of(place: Place) -> dict[int, float]:
        return minus(*(signed_values(rows, place, name, side) for name in (measure, less)))

    if pairs:
        asked = [(named(table, *both), of(both[0]), of(both[1])) for both in of_pairs(table, pairs, corpora)]
    else:
        gaps = {place: of(place) for place in places(table, methods, corpora, ())}
        asked = [(titled(table, place), own, dict.fromkeys(own, 0.0)) for place, own in gaps.items()]
    tests = [Difference(name, found) for name, one, other in asked if (found := paired(one, other)) is not None]
    return of_differences(tests, table.measure(measure), len(asked))


Column = tuple[str, str]  # corpus and measure
SEEDS = 3  # the interval of two says next to nothing, be it wide or by chance narrow
METHODS = 3  # of a column, for a rank correlation


def printed(table: Table, rows: Rows) -> Finding | None:
    """Holds where our intervals cover at least half of the printed numbers; partly where the methods at least stand in
    a like order (a mean rank correlation of 0.5 or more over the columns); else not here. An interval of two seeds, or one
    that is wider than the printed numbers of its column lie apart, would cover nearly anything: it doesn't count, whether
    it covers or not. Our corpora are not the paper's samples, so that numbers are not expected to be equal."""
    columns: dict[Column, list[tuple[Interval, float]]] = {}
    told: dict[Column, list[float]] = {}
    for cell in table.cells():
        for measure in cell.corpus.measures:
            theirs = table.printed_value(cell.key, measure)
            if theirs is None:
                continue
            told.setdefault((cell.corpus.name, measure), []).append(theirs)
            ours = interval(list(by_seed(rows.get(cell.key, ()), measure).values()))
            if ours is not None and ours.half is not None:
                columns.setdefault((cell.corpus.name, measure), []).append((ours, theirs))
    if not columns:
        return None
    every = [(ours, theirs, told[name]) for name, column in columns.items() for ours, theirs in column]
    sharp = [(ours, theirs) for ours, theirs, others in every if tells(ours, others)]
    covered = sum(ours.low <= theirs <= ours.high for ours, theirs in sharp)
    orders = [rank_correlation(column) for column in columns.values() if len(column) >= METHODS]
    order = sum(orders) / len(orders) if orders else 0.0
    words = []
    for (corpus, measure), column in columns.items():
        form = table.measure(measure)
        away = sum(ours.mean - theirs for ours, theirs in column) / len(column)
        words.append(f"{table.corpora[corpus].title}, {form.title} {signed(away, form)}")
    verdict = HOLDS if sharp and 2 * covered >= len(sharp) else PARTLY if order >= 0.5 else NOT_HERE
    head = (
        f"{covered} of {several(len(sharp), 'printed number')} within our intervals{left_out(len(every) - len(sharp))}"
    )
    ranked = f"rank correlation of the methods {order:.2f}"
    if not orders:
        ranked = f"no rank correlation, of fewer than {METHODS} methods in a column"
    return Finding(verdict, f"{head}; {ranked}; ours minus theirs on average: {', '.join(words)}")


def tells(ours: Interval, column: Sequence[float]) -> bool:
    """Whether it is no wider than the printed numbers lie apart, where they do."""
    apart = max(column) - min(column)
    return ours.n >= SEEDS and not 0 < apart < ours.high - ours.low


def left_out(wide: int) -> str:
    return (
        f" ({wide} not counted: of two seeds, or wider than the printed numbers of a column lie apart)" if wide else ""
    )


def rank_correlation(column: Sequence[tuple[Interval, float]]) -> float:
    """Spearman's, between our means and the printed numbers."""
    ours, theirs = ranks([one.mean for one, _ in column]), ranks([value for _, value in column])
    middle = (len(column) + 1) / 2
    above = sum((one - middle) * (other - middle) for one, other in zip(ours, theirs, strict=True))
    below = (sum((one - middle) ** 2 for one in ours) * sum((one - middle) ** 2 for one in theirs)) ** 0.5
    return above / below if below else 0.0


def ranks(values: Sequence[float]) -> list[float]:
    """From 1; equal ones share the mean of their places."""
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]
