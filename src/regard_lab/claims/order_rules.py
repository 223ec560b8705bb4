"""Rules on several measures of a run: signs, order, shares of seeds, numbers of a corpus, printed numbers.

Intervals are 95 % intervals over seeds; cells with a single seed are left out. As in `difference_rules`, a rule returns None
if nothing has been measured yet, and its docstring appears on the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from regard_lab.claims.conditions import Condition, from_values, judge
from regard_lab.claims.difference_rules import Pairs, comparison_name, method_pairs, minus, signed_values
from regard_lab.claims.differences import Difference, finding
from regard_lab.claims.level_rules import path_ends
from regard_lab.claims.verdicts import HOLDS, PARTLY, UNDECIDED, Finding, Given, several, span
from regard_lab.comparisons import by_seed
from regard_lab.measures import Measure, shown, signed, value_of
from regard_lab.rows import CellKey, Row
from regard_lab.statistics import Interval, mean_interval, paired
from regard_lab.tables.table import Table

Names = Sequence[str]
SHOWN = 5  # conditions that are listed with their numbers


def stands(
    given: Given,
    where: Sequence[Sequence[str | float]],
    methods: Names = (),
    corpora: Names = (),
    settings: Names = (),
    need: Literal["all", "most"] = "all",
) -> Finding | None:
    """Measures of a model in a given order, such as attention of positive tokens above that of neutral ones (possibly minus
    a margin), or above or below a number. Each condition: a difference, paired by seed, with the right sign. If the claim says
    "mostly", more than half of the conditions are enough."""
    conditions: list[Condition] = []
    for cell_key in selected_cells(given.table, methods, corpora, settings):
        for left, side, right, *margin in where:
            offset = float(margin[0]) if margin else 0.0
            new = make_condition(
                given.table, given.rows.get(cell_key, ()), cell_key, str(left), str(side), right, offset
            )
            conditions += [new] if new is not None else []
    if not conditions:
        return None
    verdict, why, needed = judge(given, conditions, need)
    satisfied = sum(condition.side > 0 for condition in conditions)
    missed = [condition for condition in conditions if condition.side <= 0]
    listed = missed or conditions
    others = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    values = "; ".join(f"{condition.name}: {condition.text}" for condition in listed[:SHOWN])
    seeds = span([condition.n for condition in conditions])
    head = f"{satisfied} of {len(conditions)} in the claimed order, {seeds} seeds"
    return Finding(verdict, f"{head}; {'not: ' if missed else ''}{values}{others}", why, needed=needed)


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
    differences = [sign * (left_values[seed] - right_values[seed] - margin) for seed in both]
    difference = mean_interval(differences)
    if difference is None or difference.half is None:
        return None
    definition = table.measure(left)
    means = [
        shown(sum(values[seed] for seed in both) / len(both), definition) for values in (left_values, right_values)
    ]
    bound = table.measure(right).title if isinstance(right, str) else shown(right, definition)
    bound += f" {'−' if margin < 0 else '+'} {shown(abs(margin), definition)}" if margin else ""
    name = f"{cell_title(table, cell_key)}, {definition.title} {side} {bound}"
    return from_values(name, describe(means, difference, definition, right), cell_key, differences)


def describe(means: Sequence[str], difference: Interval, definition: Measure, right: str | float) -> str:
    values = f"{means[0]} and {means[1]}" if isinstance(right, str) else means[0]
    return f"{values} (± {shown(difference.half, definition)})"


def cell_title(table: Table, cell_key: CellKey) -> str:
    """The corpus, with method and setting if there are several."""
    row = table.title_of(cell_key) if len(table.methods) > 1 or len(table.settings) > 1 else ""
    return ", ".join(filter(None, (table.corpora[cell_key[1]].title, row)))


def often(
    given: Given,
    measures: Names,
    least: float = 0.8,
    methods: Names = (),
    corpora: Names = (),
    settings: Names = (),
) -> Finding | None:
    """Patterns that a seed either shows or does not. Each condition: at least the given share of the seeds (0.8 by default)
    shows a pattern; contradicted if fewer than half do."""
    table, conditions, words = given.table, [], []
    for cell_key in selected_cells(table, methods, corpora, settings):
        each = []
        for measure in measures:
            values = [value for row in given.rows.get(cell_key, ()) if (value := value_of(row, measure)) is not None]
            if len(values) > 1:
                count, of = sum(values), len(values)
                conditions.append(
                    Condition("", "", cell_key, 1 if count >= least * of else -1 if 2 * count < of else 0)
                )
                each.append(f"{table.measure(measure).title.removeprefix('% seeds, ')} {count:g} of {of}")
        if each:
            words.append(f"{cell_title(table, cell_key)}: {', '.join(each)}")
    if not conditions:
        return None
    verdict, why, _ = judge(given, conditions)
    satisfied = sum(condition.side > 0 for condition in conditions)
    return Finding(verdict, f"{satisfied} of {len(conditions)} shown often enough; {'; '.join(words)}", why)


def equal(given: Given, corpora: Names = ()) -> Finding | None:
    """Numbers of a corpus, without randomness. Each condition: a number equals the printed one."""
    table, matches, conditions = given.table, dict[str, list[bool]](), []
    for cell in table.cells():
        if corpora and cell.corpus.name not in corpora:
            continue
        for measure in cell.corpus.measures:
            definition = table.measure(measure)
            theirs = table.printed_value(cell.key, measure)
            ours = list(by_seed(given.rows.get(cell.key, ()), measure).values())
            if theirs is not None and ours:
                is_equal = shown(ours[0], definition) == shown(theirs, definition)
                matches.setdefault(cell.corpus.title, []).append(is_equal)
                conditions.append(Condition("", "", cell.key, 1 if is_equal else -1))
    if not conditions:
        return None
    verdict, why, _ = judge(given, conditions)
    words = [f"{title} {sum(cell_matches)} of {len(cell_matches)}" for title, cell_matches in matches.items()]
    return Finding(verdict, f"as printed: {', '.join(words)}", why)


def moves(
    given: Given,
    rises: Names = (),
    falls: Names = (),
    methods: Names = (),
    corpora: Names = (),
    settings: Names = (),
) -> Finding | None:
    """A value after the last epoch minus that before the first step. Each condition: the change has the claimed sign, for each
    value, model and corpus."""
    conditions, words, seeds = [], [], []
    for cell_key in selected_cells(given.table, methods, corpora, settings):
        for value in (*rises, *falls):
            ends = path_ends(given.rows.get(cell_key, ()), value)
            sign = 1 if value in rises else -1
            condition = from_values("", "", cell_key, [(after - before) * sign for before, after in ends])
            if condition is None:
                continue
            conditions.append(condition)
            seeds.append(len(ends))
            before, after = (sum(end[at] for end in ends) / len(ends) for at in (0, 1))
            title = value.partition(".")[2] or value
            words.append(f"{cell_title(given.table, cell_key)}, {title} {before:.3g} → {after:.3g}".replace(" -", " −"))
    if not conditions:
        return None
    verdict, why, needed = judge(given, conditions)
    satisfied = sum(condition.side > 0 for condition in conditions)
    measured = f"{satisfied} of {len(words)}: {'; '.join(words)}; {span(seeds)} seeds"
    return Finding(verdict, measured, why, needed=needed)


def gap(
    given: Given,
    measure: str,
    less: str,
    methods: Sequence[str] = (),
    pairs: Pairs = (),
    corpora: Sequence[str] = (),
) -> Finding | None:
    """One measure of a model minus another, such as accuracy after a round minus that before it; for two models, the gap of
    the one minus that of the other. Verdicts as for "better"."""
    table = given.table
    side = table.measure(measure).better or 1

    def of(cell_key: CellKey) -> dict[int, float]:
        return minus(*(signed_values(given.rows, cell_key, name, side) for name in (measure, less)))

    def printed_gap(cell_key: CellKey) -> float | None:
        known = table.corpora[cell_key[1]].measures
        printed = [table.printed_value(cell_key, name) if name in known else None for name in (measure, less)]
        return None if None in printed else side * (printed[0] - printed[1])  # type: ignore[operator]

    compared: list[tuple[str, tuple[CellKey, ...]]]
    if pairs:
        compared = [(comparison_name(table, *both), both) for both in method_pairs(table, pairs, corpora)]
    else:
        compared = [(cell_title(table, key), (key,)) for key in selected_cells(table, methods, corpora, ())]
    tests = []
    for name, cells in compared:
        gaps = [of(cell_key) for cell_key in cells]
        test = paired(gaps[0], gaps[1] if len(cells) > 1 else dict.fromkeys(gaps[0], 0.0))
        if test is not None:
            papers = [printed_gap(cell_key) for cell_key in cells]
            paper = None if None in papers else papers[0] - sum(papers[1:])  # type: ignore[operator, arg-type]
            tests.append(Difference(name, test, cells, paper, given.margin(measure, cells[0])))
    return finding(given, tests, table.measure(measure), len(compared))


Column = tuple[str, str]  # corpus and measure
SEEDS = 3  # at least: an interval of two seeds, wide or accidentally narrow, means little
METHODS = 3  # at least, per column, for a rank correlation
SIMILAR = 0.5  # a mean rank correlation


def printed(given: Given) -> Finding | None:
    """Holds if our intervals contain at least half of the printed numbers; partly if the order of the methods is at least
    similar (a mean rank correlation of 0.5 or more over the columns); undecided if no interval can be counted. An interval from
    two seeds, or one wider than the range of the printed numbers in its column, would contain almost anything and is not
    counted. Where our corpora are not the paper's samples, the numbers are not expected to be equal."""
    table, rows = given.table, given.rows
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
    if informative and 2 * covered >= len(informative):
        verdict = HOLDS
    elif order >= SIMILAR:
        verdict = PARTLY
    elif not informative:
        verdict = UNDECIDED
    else:
        verdict = given.negative([cell.key for cell in table.cells() if rows.get(cell.key)], opposite=False)
    head = f"{covered} of {several(len(informative), 'printed number')} within our intervals"
    head += not_counted(len(every) - len(informative))
    ranked = f"rank correlation of the methods {order:.2f}"
    if not orders:
        ranked = f"no rank correlation with fewer than {METHODS} methods in a column"
    return Finding(verdict, f"{head}; {ranked}; ours minus theirs on average: {', '.join(words)}", head)


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
