"""The possible verdicts on a claim, what a rule is given, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from regard_lab.claims.rule_book import RuleBook
from regard_lab.pooled_effect import Pooled
from regard_lab.rows import CellKey, Row
from regard_lab.tables.table import Table

HOLDS, PARTLY, REFUTED, NOT_FOUND = "holds", "partly", "refuted", "not found on proxy data"
UNDECIDED, UNTESTABLE, LATER = "undecided", "cannot be tested", "to be measured"
VERDICTS = (HOLDS, PARTLY, REFUTED, NOT_FOUND, UNDECIDED, UNTESTABLE, LATER)  # as written in evidence.toml
NEGATIVE = "negative"  # what a rule finds before the tier of the data chooses the word
ALPHA = 0.05

Rows = Mapping[CellKey, Sequence[Row]]


@dataclass(frozen=True)
class Given:
    """What a rule is given."""

    table: Table
    rows: Rows
    book: RuleBook = field(default_factory=RuleBook)
    vacuous: Collection[str] = ()  # methods for which the test cannot show the effect
    general: bool = False  # the claim says "all", "consistently" or "in general"
    other: Callable[[str], Given] | None = None  # the same for another table of the paper

    def negative(self, cell_keys: Iterable[CellKey], opposite: bool) -> str:
        """The word for a claim that the data contradict; `opposite`: they show the opposite effect."""
        tiers = self.book.tiers_of(self.table.name, cell_keys)
        return REFUTED if tiers == ["exact"] or (self.general and opposite) else NOT_FOUND

    def texts(self, cell_key: CellKey) -> int | None:
        """The number of test texts, as the rows have it."""
        counts = [row.get("values", {}).get("n") for row in self.rows.get(cell_key, ())]
        return next((int(count) for count in counts if count), None)

    def margin(self, measure: str, cell_key: CellKey) -> float:
        return self.book.margin(measure, self.table.name, cell_key[1], self.texts(cell_key))


class Finding(NamedTuple):
    verdict: str
    measured: str  # the numbers behind it, with intervals and seeds
    why: str = ""  # the condition that decided
    pooled: Pooled | None = None
    paper: float | None = None  # the paper's mean difference over the same comparisons
    margin: float = 0.0
    needed: str = ""  # seeds that would decide
    over_texts: str = ""  # intervals that cover other texts, where rows have predictions


def several(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"
