"""What is measured and what is missing: printed numbers with runs, runs of each table, and verdicts on incomplete results.

A table's TOML file asks for a number of seeds, and the protocol plans more for some cells; both are counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from regard.errors import InputError
from regard.markdown_text import escape
from regard_lab.claims.claims import Claims
from regard_lab.claims.rule_book import RuleBook
from regard_lab.claims.table_folder import TableFolder
from regard_lab.claims.verdict_list import Record, printed_measures
from regard_lab.rows import CellKey, Row
from regard_lab.tables.table import Table

RESULTS = (  # the papers' tables of results; other tables have printed numbers of corpora, speeds or correlations
    "apln/table2",
    "apln/table3",
    "sun_lu/table2",
    *(f"vat/table{number}" for number in range(2, 7)),
)


@dataclass(frozen=True)
class TableCoverage:
    table: str
    runs: int
    asked: int  # by the table
    planned_runs: int  # finished, of those that the protocol plans
    planned: int
    printed: int  # numbers that the paper prints for its cells
    filled: int  # of them, how many have a run
    open_corpora: Sequence[str]  # titles of the corpora with cells that have fewer runs than asked for or planned
    so_far: Sequence[str]  # ids of the claims whose verdict rests on an incomplete part of it
    because: str = ""  # why something is missing
    gpu_minutes: float = 0.0  # since the protocol
    failed: int = 0  # of the runs; they have no values

    @property
    def complete(self) -> bool:
        return self.runs >= self.asked and self.planned_runs >= self.planned

    @property
    def why(self) -> str:
        return (self.because or "complete") + (f"; {self.failed} of the runs failed" if self.failed else "")


@dataclass(frozen=True)
class PlannedRuns:
    """A row of the protocol's section 4."""

    run: str
    tables: Sequence[str]
    runs: int
    planned: int


def coverage(claims: Claims, folder: TableFolder, records: Sequence[Record]) -> list[TableCoverage]:
    """One entry for each table. A table with missing runs needs a reason in evidence.toml, and no other table may have one."""
    so_far = defaultdict(list)
    for record in records:
        if not record.complete:
            so_far[record.claim.table].append(record.claim.id)
    entries = [
        of_table(
            folder.table(name),
            folder.rows(name),
            folder.book,
            so_far=so_far[name],
            because=claims.missing.get(name, ""),
            gpu_minutes=0.0 if folder.book.shows_runs_of_another(name) else round(folder.gpu_minutes(name), 1),
        )
        for name in folder.names
    ]
    for entry in entries:
        if entry.complete == bool(entry.because):
            expected = "no reason, because every run exists" if entry.complete else "a reason why runs are missing"
            raise InputError(f"evidence.toml: [missing] {entry.table}: expected {expected}, got {entry.because!r}")
    return entries


def of_table(
    table: Table,
    rows: Mapping[CellKey, Sequence[Row]],
    book: RuleBook,
    *,
    so_far: Sequence[str],
    because: str,
    gpu_minutes: float,
) -> TableCoverage:
    runs = asked = planned_runs = planned = printed = filled = failed = 0
    open_corpora = []
    for cell in table.cells():
        finished, wanted = rows.get(cell.key, ()), book.planned(table.name, cell.key)
        runs, asked = runs + min(len(finished), cell.seeds), asked + cell.seeds
        planned_runs, planned = planned_runs + min(len(finished), wanted), planned + wanted
        if len(finished) < max(cell.seeds, wanted):
            open_corpora.append(cell.corpus.title)
        failed += sum("error" in row for row in finished)
        measures = printed_measures(table, cell)
        printed += len(measures)
        filled += sum(any(measure in row.get("values", {}) for row in finished) for measure in measures)
    return TableCoverage(
        table.name,
        runs,
        asked,
        planned_runs,
        planned,
        printed,
        filled,
        list(dict.fromkeys(open_corpora)),
        so_far,
        because,
        gpu_minutes,
        failed,
    )


def planned_runs(folder: TableFolder) -> list[PlannedRuns]:
    """The rows of the protocol's section 4, in their order."""
    found: dict[str, list[PlannedRuns]] = {}
    for plan in folder.book.plans:
        if not plan.same_runs_as:
            keys = [cell.key for cell in folder.table(plan.table).cells() if plan.has(plan.table, cell.key)]
            runs = sum(min(len(folder.rows(plan.table).get(key, ())), plan.seeds) for key in keys)
            found.setdefault(plan.run, []).append(PlannedRuns(plan.run, [plan.table], runs, plan.seeds * len(keys)))
    return [
        PlannedRuns(
            run,
            list(dict.fromkeys(part.tables[0] for part in parts)),
            sum(part.runs for part in parts),
            sum(part.planned for part in parts),
        )
        for run, parts in found.items()
    ]


def section(entries: Sequence[TableCoverage], claims: Claims, plan: Sequence[PlannedRuns] = ()) -> Iterator[str]:
    """The part of the page that says what is missing, and why."""
    tested = {claim.table for claim in claims.claims}
    counted = [entry for entry in entries if entry.table in tested]
    printed, filled = sum(entry.printed for entry in counted), sum(entry.filled for entry in counted)
    runs, asked = sum(entry.runs for entry in counted), sum(entry.asked for entry in counted)
    so_far = f"{sum(len(entry.so_far) for entry in counted)} of the {len(claims.claims)} verdicts"
    yield "## What is missing"
    yield ""
    others = [entry for entry in counted if entry.printed and entry.table not in RESULTS]
    results = printed - sum(entry.printed for entry in others)
    listed = ", ".join(f"{escape(entry.table)} {entry.printed}" for entry in others)
    yield (
        f"**{filled} of {printed} printed numbers** have at least one run, in the tables that test the claims; "
        f"{runs:,} of the {asked:,} runs that these tables ask for exist. {so_far} are marked "
        "*so far*, because runs are missing that the tables ask for or the protocol plans. "
        "`regard reproduce --list` shows the same for each table."
        + (
            f" Of the printed numbers, {results} are in the papers' tables of results (APLN's Tables 2 and 3, Sun & Lu's Table "
            "2, VAT's Tables 2 to 6), the printed cells that were counted when these runs were planned; the other "
            f"{printed - results} are in {listed}."
            if others and results
            else ""
        )
    )
    yield ""
    yield from plan_table(entries, plan)
    yield "| table | runs asked by the table | planned by the protocol | GPU minutes since the protocol | " + (
        "printed numbers with runs | missing on | verdicts so far | why |"
    )
    yield "|---|---:|---:|---:|---:|---|---|---|"
    for entry in entries:
        if not entry.complete or entry.gpu_minutes:
            cells = (
                entry.table,
                f"{entry.runs} of {entry.asked}",
                of(entry.planned_runs, entry.planned),
                f"{entry.gpu_minutes:.1f}" if entry.gpu_minutes else "",
                of(entry.filled, entry.printed),
                ", ".join(entry.open_corpora),
                ", ".join(entry.so_far),
                entry.why,
            )
            yield "| " + " | ".join(map(escape, cells)) + " |"
    yield ""


def of(count: int, total: int) -> str:
    return f"{count} of {total}" if total else ""


def plan_table(entries: Sequence[TableCoverage], plan: Sequence[PlannedRuns]) -> Iterator[str]:
    if not plan:
        return
    complete = [one.run for one in plan if one.runs >= one.planned]
    minutes = sum(entry.gpu_minutes for entry in entries)
    failed = sum(entry.failed for entry in entries if entry.planned)
    without_values = f" {failed} of these runs failed and have no values." if failed else ""
    yield (
        f"Of the runs of the [protocol](../experiments/PROTOCOL.md#4-runs-of-this-version), {sum(one.runs for one in plan):,} of "
        f"{sum(one.planned for one in plan):,} exist, also counting rows that are older than it; {', '.join(complete)} are "
        f"complete.{without_values} The rows since the protocol took {minutes:.1f} GPU minutes, added up."
    )
    yield ""
    yield "| run | tables | runs |"
    yield "|---|---|---:|"
    for one in plan:
        yield f"| {one.run} | {', '.join(map(escape, one.tables))} | {one.runs} of {one.planned} |"
    yield ""


def as_data(entries: Sequence[TableCoverage]) -> list[dict[str, object]]:
    return [asdict(entry) for entry in entries]
