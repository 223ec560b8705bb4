"""The rule "printed": a paper's numbers beside ours. As in `rules`, its docstring stands on the page."""

from __future__ import annotations

from collections.abc import Sequence

from regard_lab.claims.rules import Rows
from regard_lab.claims.verdicts import HOLDS, NOT_HERE, PARTLY, Finding, several
from regard_lab.comparisons import by_seed
from regard_lab.measures import signed
from regard_lab.statistics import Interval, interval
from regard_lab.tables.table import Table

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
