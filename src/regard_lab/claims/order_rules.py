"""Rules on several measures of a run: signs, order, shares of seeds, numbers of a corpus, printed numbers.

Intervals are 95 % intervals over seeds; cells with a single seed are left out. As in `difference_rules`, a rule returns None
if nothing has been measured yet, and its docstring appears on the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from regard_lab.claims.difference_rules import (
    Pairs,
    Rows,
    comparison_name,
    finding_from,
    method_pairs,
    minus,
    signed_values,
)
from regard_lab.claims.level_rules import path_ends
from regard_lab.claims.verdicts import HOLDS, NOT_HERE, PARTLY, Difference, Finding, several, span, verdict_by_count
from regard_lab.comparisons import by_seed
from regard_lab.measures import Measure, shown, signed, value_of
from regard_lab.rows import CellKey, Row
from regard_lab.statistics import Interval, mean_interval, paired
from regard_lab.tables.table import Table

Names = Sequence[str]
SHOWN = 5  # conditions that are listed with their numbers


class Condition(NamedTuple):
    """One measure above or below another, or a number, in one cell."""

    name: str
    difference: Interval  # of the difference that must be above 0
    text: str

    @property
    def is_satisfied(self) -> bool:
        return self.difference.low > 0


def stands(
    table: Table,
    rows: Rows,
    where: Sequence[Sequence[str | float]],
    methods: Names = (),
    corpora: Names = (),
    settings: Names = (),
    need: Literal["all", "most"] = "all",
) -> Finding | None:
    """Measures of a model in a given order, such as attention of positive tokens above that of neutral ones (possibly minus
    a margin), or above or below a number. Holds if the whole interval of every difference, paired by seed, has the right
    sign for every model and corpus (if the claim says "mostly", for more than half); partly if for some."""
    conditions: list[Condition] = []
    for cell_key in selected_cells(table, methods, corpora, settings):
        for left, side, right, *margin in where:
            offset = float(margin[0]) if margin else 0.0
            new = make_condition(table, rows.get(cell_key, ()), cell_key, str(left), str(side), right, offset)
            conditions += [new] if new is not None else []
    if not conditions:
        return None
    satisfied = sum(condition.is_satisfied for condition in conditions)
    missed = [condition for condition in conditions if not condition.is_satisfied]
    listed = missed or conditions
    others = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    values = "; ".join(f"{condition.name}: {condition.text}" for condition in listed[:SHOWN])
    seeds = span([condition.difference.n for condition in conditions])
    head = f"{satisfied} of {len(conditions)} in the claimed order, {seeds} seeds"
    verdict = (
        HOLDS if need == "most" and 2 * satisfied > len(conditions) else verdict_by_count(satisfied, len(conditions))
    )
    return Finding(verdict, f"{head}; {'not: ' if missed else ''}{values}{others}")


def selected_cells(table: Table, methods: Names, corpora: Names, settings: Names) -> Iterator[CellKey]:
    for cell in table.cells():
        wanted = (methods, corpora, settings)
        if all(not names or name in names for names, name in zip(wanted, cell.key, strict=True)):
            yield cell.key


def make_condition(
    table: Table, rows: Sequence[Row], cell_key: CellKey, left: str, side: str, right: str | float, margin: float = 0.0
) -> Condition | None:
    """`left` above or below `right` plus a margin; None without such measures or with a single seed."""
    left_values = by_seed(rows, left)
    right_values = by_seed(rows, right) if isinstance(right, str) else dict.fromkeys(left_values, float(right))
    both = sorted(left_values.keys() & right_values.keys())
    sign = 1 if side == ">" else -1
    difference = mean_interval([sign * (left_values[seed] - right_values[seed] - margin) for seed in both])
    if difference is None or difference.half is None:
        return None
    definition = table.measure(left)
    means = [
        shown(sum(values[seed] for seed in both) / len(both), definition) for values in (left_values, right_values)
    ]
    bound = table.measure(right).title if isinstance(right, str) else shown(right, definition)
    bound += f" {'−' if margin < 0 else '+'} {shown(abs(margin), definition)}" if margin else ""
    name = f"{cell_title(table, cell_key)}, {definition.title} {side} {bound}"
    return Condition(name, difference, describe(means, difference, definition, right))


def describe(means: Sequence[str], difference: Interval, definition: Measure, right: str | float) -> str:
    values = f"{means[0]} and {means[1]}" if isinstance(right, str) else means[0]
    return f"{values} (± {shown(difference.half, definition)})"


def cell_title(table: Table, cell_key: CellKey) -> str:
    """The corpus, with method and setting if there are several."""
    row = table.title_of(cell_key) if len(table.methods) > 1 or len(table.settings) > 1 else ""
    return ", ".join(filter(None, (table.corpora[cell_key[1]].title, row)))


def often(
    table: Table,
    rows: Rows,
    measures: Names,
    least: float = 0.8,
    methods: Names = (),
    corpora: Names = (),
    settings: Names = (),
) -> Finding | None:
    """Patterns that a seed either shows or does not. Holds if at least the given share of the seeds (0.8 by default) shows
    every pattern, for every model and corpus; partly if this is so for some."""
    counts = {}
    for cell_key in selected_cells(table, methods, corpora, settings):
        for measure in measures:
            values = [value for row in rows.get(cell_key, ()) if (value := value_of(row, measure)) is not None]
            if len(values) > 1:
                counts[cell_key, measure] = (sum(values), len(values))
    if not counts:
        return None
    satisfied = sum(count >= least * of for count, of in counts.values())
    words = []
    for cell_key in dict.fromkeys(cell_key for cell_key, _ in counts):
        each = [
            f"{table.measure(measure).title.removeprefix('% seeds, ')} {count:g} of {of}"
            for (counted_key, measure), (count, of) in counts.items()
            if counted_key == cell_key
        ]
        words.append(f"{cell_title(table, cell_key)}: {', '.join(each)}")
    return Finding(
        verdict_by_count(satisfied, len(counts)), f"{satisfied} of {len(counts)} shown often enough; {'; '.join(words)}"
    )


def equal(table: Table, rows: Rows, corpora: Names = ()) -> Finding | None:
    """Numbers of a corpus, without randomness. Holds if all equal the printed ones; partly if some do."""
    matches: dict[str, list[bool]] = {}
    for cell in table.cells():
        if corpora and cell.corpus.name not in corpora:
            continue
        for measure in cell.corpus.measures:
            definition = table.measure(measure)
            theirs = table.printed_value(cell.key, measure)
            ours = list(by_seed(rows.get(cell.key, ()), measure).values())
            if theirs is not None and ours:
                matches.setdefault(cell.corpus.title, []).append(
                    shown(ours[0], definition) == shown(theirs, definition)
                )
    if not matches:
        return None
    every = [match for cell_matches in matches.values() for match in cell_matches]
    words = [f"{title} {sum(cell_matches)} of {len(cell_matches)}" for title, cell_matches in matches.items()]
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
    """A value after the last epoch minus that before the first step. Holds if the whole interval has the claimed sign for
    every value, model and corpus; partly if for some."""
    satisfied, words, seeds = 0, [], []
    for cell_key in selected_cells(table, methods, corpora, settings):
        for value in (*rises, *falls):
            ends = path_ends(rows.get(cell_key, ()), value)
            change = mean_interval([(after - before) * (1 if value in rises else -1) for before, after in ends])
            if change is None or change.half is None:
                continue
            satisfied += change.low > 0
            seeds.append(len(ends))
            before, after = (sum(end[at] for end in ends) / len(ends) for at in (0, 1))
            words.append(
                f"{cell_title(table, cell_key)}, {value.partition('.')[2] or value} {before:.3g} → {after:.3g}"
            )
    if not words:
        return None
    return Finding(
        verdict_by_count(satisfied, len(words)),
        f"{satisfied} of {len(words)}: {'; '.join(words)}; {span(seeds)} seeds".replace(" -", " −"),
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
    """One measure of a model minus another, such as accuracy after a round minus that before it; for two models, the gap of
    the one minus that of the other. Verdicts as for "better"."""
    side = table.measure(measure).better or 1

    def of(cell_key: CellKey) -> dict[int, float]:
        return minus(*(signed_values(rows, cell_key, name, side) for name in (measure, less)))

    if pairs:
        comparisons = [
            (comparison_name(table, *both), of(both[0]), of(both[1])) for both in method_pairs(table, pairs, corpora)
        ]
    else:
        gaps = {cell_key: of(cell_key) for cell_key in selected_cells(table, methods, corpora, ())}
        comparisons = [
            (cell_title(table, cell_key), values, dict.fromkeys(values, 0.0)) for cell_key, values in gaps.items()
        ]
    tests = [Difference(name, test) for name, one, other in comparisons if (test := paired(one, other)) is not None]
    return finding_from(tests, table.measure(measure), len(comparisons))


Column = tuple[str, str]  # corpus and measure
SEEDS = 3  # at least: an interval of two seeds, wide or accidentally narrow, means little
METHODS = 3  # at least, per column, for a rank correlation


def printed(table: Table, rows: Rows) -> Finding | None:
    """Holds if our intervals contain at least half of the printed numbers; partly if the order of the methods is at least
    similar (a mean rank correlation of 0.5 or more over the columns); otherwise not here. An interval from two seeds, or one
    wider than the range of the printed numbers in its column, would contain almost anything and is not counted. Our corpora
    are not the paper's samples, so the numbers are not expected to be equal."""
    columns: dict[Column, list[tuple[Interval, float]]] = {}
    printed_numbers: dict[Column, list[float]] = {}
    for cell in table.cells():
        for measure in cell.corpus.measures:
            theirs = table.printed_value(cell.key, measure)
            if theirs is None:
                continue
            printed_numbers.setdefault((cell.corpus.name, measure), []).append(theirs)
            ours = mean_interval(list(by_seed(rows.get(cell.key, ()), measure).values()))
            if ours is not None and ours.half is not None:
                columns.setdefault((cell.corpus.name, measure), []).append((ours, theirs))
    if not columns:
        return None
    every = [(ours, theirs, printed_numbers[name]) for name, column in columns.items() for ours, theirs in column]
    informative = [(ours, theirs) for ours, theirs, others in every if is_informative(ours, others)]
    covered = sum(ours.low <= theirs <= ours.high for ours, theirs in informative)
    orders = [rank_correlation(column) for column in columns.values() if len(column) >= METHODS]
    order = sum(orders) / len(orders) if orders else 0.0
    words = []
    for (corpus, measure), column in columns.items():
        definition = table.measure(measure)
        offset = sum(ours.mean - theirs for ours, theirs in column) / len(column)
        words.append(f"{table.corpora[corpus].title}, {definition.title} {signed(offset, definition)}")
    verdict = HOLDS if informative and 2 * covered >= len(informative) else PARTLY if order >= 0.5 else NOT_HERE
    head = f"{covered} of {several(len(informative), 'printed number')} within our intervals"
    head += not_counted(len(every) - len(informative))
    ranked = f"rank correlation of the methods {order:.2f}"
    if not orders:
        ranked = f"no rank correlation with fewer than {METHODS} methods in a column"
    return Finding(verdict, f"{head}; {ranked}; ours minus theirs on average: {', '.join(words)}")


def is_informative(ours: Interval, column: Sequence[float]) -> bool:
    """Whether an interval has enough seeds and is not wider than the range of the printed numbers."""
    spread = max(column) - min(column)
    return ours.n >= SEEDS and not 0 < spread < ours.high - ours.low


def not_counted(count: int) -> str:
    return (
        f" ({count} not counted: two seeds, or wider than the range of the printed numbers of the column)"
        if count
        else ""
    )


def rank_correlation(column: Sequence[tuple[Interval, float]]) -> float:
    """Spearman's rank correlation of our means and the printed numbers."""
    ours, theirs = ranks([one.mean for one, _ in column]), ranks([value for _, value in column])
    middle = (len(column) + 1) / 2
    covariance = sum((one - middle) * (other - middle) for one, other in zip(ours, theirs, strict=True))
    scale = (sum((one - middle) ** 2 for one in ours) * sum((one - middle) ** 2 for one in theirs)) ** 0.5
    return covariance / scale if scale else 0.0


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1; equal values share their mean rank."""
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]
