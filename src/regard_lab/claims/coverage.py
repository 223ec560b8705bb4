"""What is measured and what is missing: printed numbers with runs, runs of each table, and verdicts on incomplete results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from regard.errors import InputError
from regard.markdown_text import escape
from regard_lab.claims.claims import Claims
from regard_lab.claims.table_folder import TableFolder
from regard_lab.claims.verdict_list import Record, printed_measures
from regard_lab.rows import CellKey, Row
from regard_lab.tables.table import Table


@dataclass(frozen=True)
class TableCoverage:
    table: str
    runs: int
    asked: int
    printed: int  # numbers that the paper prints for its cells
    filled: int  # of them, how many have a run
    open_corpora: Sequence[str]  # titles of the corpora with cells that have fewer runs than asked for
    so_far: Sequence[str]  # ids of the claims whose verdict rests on an incomplete part of it
    because: str = ""  # why something is missing

    @property
    def complete(self) -> bool:
        return self.runs >= self.asked


def coverage(claims: Claims, folder: TableFolder, records: Sequence[Record]) -> list[TableCoverage]:
    """One entry for each table. A table with missing runs needs a reason in evidence.toml, and no other table may have one."""
    so_far = defaultdict(list)
    for record in records:
        if not record.complete:
            so_far[record.claim.table].append(record.claim.id)
    entries = [
        of_table(folder.table(name), folder.rows(name), so_far[name], claims.missing.get(name, ""))
        for name in folder.names
    ]
    for entry in entries:
        if entry.complete == bool(entry.because):
            expected = "no reason, because every run exists" if entry.complete else "a reason why runs are missing"
            raise InputError(f"evidence.toml: [missing] {entry.table}: expected {expected}, got {entry.because!r}")
    return entries


def of_table(table: Table, rows: Mapping[CellKey, Sequence[Row]], so_far: Sequence[str], because: str) -> TableCoverage:
    runs = asked = printed = filled = 0
    open_corpora = []
    for cell in table.cells():
        finished = rows.get(cell.key, ())
        runs, asked = runs + min(len(finished), cell.seeds), asked + cell.seeds
        if len(finished) < cell.seeds:
            open_corpora.append(cell.corpus.title)
        measures = printed_measures(table, cell)
        printed += len(measures)
        filled += sum(any(measure in row["values"] for row in finished) for measure in measures)
    return TableCoverage(table.name, runs, asked, printed, filled, list(dict.fromkeys(open_corpora)), so_far, because)


def section(entries: Sequence[TableCoverage], claims: Claims) -> Iterator[str]:
    """The part of the page that says what is missing, and why."""
    tested = {claim.table for claim in claims.claims}
    counted = [entry for entry in entries if entry.table in tested]
    printed, filled = sum(entry.printed for entry in counted), sum(entry.filled for entry in counted)
    runs, asked = sum(entry.runs for entry in counted), sum(entry.asked for entry in counted)
    so_far = f"{sum(len(entry.so_far) for entry in counted)} of the {len(claims.claims)} verdicts"
    yield "## What is missing"
    yield ""
    yield (
        f"**{filled} of {printed} printed numbers** have at least one run, in the tables that test the claims; "
        f"{runs:,} of the {asked:,} runs that these tables ask for exist. {so_far} are marked "
        "*so far*, because some of their runs are missing. `regard reproduce --list` shows the same for each table."
    )
    yield ""
    yield "| table | runs | printed numbers with runs | missing on | verdicts so far | why |"
    yield "|---|---:|---:|---|---|---|"
    for entry in entries:
        if not entry.complete:
            numbers = f"{entry.filled} of {entry.printed}" if entry.printed else ""
            cells = (
                entry.table,
                f"{entry.runs} of {entry.asked}",
                numbers,
                ", ".join(entry.open_corpora),
                ", ".join(entry.so_far),
                entry.because,
            )
            yield "| " + " | ".join(map(escape, cells)) + " |"
    yield ""


def as_data(entries: Sequence[TableCoverage]) -> list[dict[str, object]]:
    return [asdict(entry) for entry in entries]
