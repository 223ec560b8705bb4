"""The tables of a folder, the results next to them and the rule book, each read at its first use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from regard.errors import InputError
from regard_lab.claims.claims import RULES, Claim
from regard_lab.claims.rule_book import RuleBook, read_rule_book
from regard_lab.claims.verdicts import HOLDS, LATER, Finding, Given
from regard_lab.reading.checks import suggestion
from regard_lab.reading.locations import table_names
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.contents import grouped, on_gpu
from regard_lab.results import key, read_results, read_rows
from regard_lab.rows import CellKey, Row
from regard_lab.tables.table import Table

RULES_FILE = "rules.toml"


class TableFolder:
    def __init__(self, folder: Path):
        self.folder = folder
        self.names = table_names(folder)
        rules = folder / RULES_FILE
        self.book = read_rule_book(rules) if rules.exists() else RuleBook()
        self.table = cache(self._table)
        self.rows = cache(self._rows)
        self.confirmatory = cache(self._confirmatory)

    def _table(self, name: str) -> Table:
        if name not in self.names:
            raise InputError(f"{name}: no such table in {self.folder}{suggestion(name, self.names)}")
        return read_table(self.names[name], name)

    def _rows(self, name: str) -> Mapping[CellKey, Sequence[Row]]:
        return grouped(read_results(self.table(name), self.results(name)))

    def results(self, name: str) -> Path:
        return self.names[name].with_suffix(".jsonl")

    def _confirmatory(self, name: str) -> frozenset[CellKey]:
        """The cells with rows that were added after the protocol was committed."""
        before = self.book.exploratory.get(name)
        if before is None:
            return frozenset()
        return frozenset(key(row)[:3] for row in read_rows(self.results(name))[0][before:])

    def gpu_minutes(self, name: str) -> float:
        """Of the rows that were added after the protocol was committed, also of those that newer ones replace."""
        before, path = self.book.exploratory.get(name), self.results(name)
        rows = read_rows(path)[0][before:] if before is not None and path.exists() else []
        return sum(row.get("seconds", 0.0) for row in rows if on_gpu(row)) / 60

    def given(self, claim: Claim) -> Given:
        return self.given_table(claim.table, claim)

    def given_table(self, name: str, claim: Claim) -> Given:
        vacuous = claim.vacuous.methods if claim.vacuous else ()
        other = cache(lambda other_name: self.given_table(other_name, claim))
        return Given(self.table(name), self.rows(name), self.book, vacuous, claim.general, other)


def evaluate_claim(claim: Claim, folder: TableFolder) -> Finding:
    if claim.verdict:
        return Finding(claim.verdict, claim.because)
    if claim.planned:
        return Finding(LATER, "")
    if claim.checked_by:
        return Finding(HOLDS, "a test in the test suite")
    return RULES[claim.rule](folder.given(claim), **claim.arguments) or Finding(LATER, "")
