"""The list of tables, each with its size, the corpora that it needs and the cost of its published results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from regard.errors import InputError
from regard_lab.reading.locations import PACKAGED, home, results_file, table_names
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.contents import devices, hours
from regard_lab.results import read_results
from regard_lab.tables.corpora import corpus_name, missing, needed
from regard_lab.tables.table import Table


@dataclass(frozen=True)
class TableSummary:
    name: str
    title: str
    facts: tuple[tuple[str, str], ...]  # (name, text)


def list_tables() -> Iterator[TableSummary]:
    """Every table, or the reason why it cannot be read."""
    folder = home()
    for name, path in table_names(folder).items():
        try:
            yield summarise(read_table(path, name))
        except InputError as error:
            yield TableSummary(name, f"cannot be read: {error}", ())


def summarise(table: Table) -> TableSummary:
    cells = list(table.cells())
    runs = sum(cell.seeds for cell in cells)
    names = ", ".join(dict.fromkeys(corpus_name(need) for need in needed(cells)))
    missing_names = ", ".join(missing(cells))
    facts = [("size", f"{len(cells)} cells, {runs} runs"), ("needs", names), ("missing", missing_names)]
    facts.append(("published", describe_published(table, runs)))
    title = f"{table.title} ({table.where})" if table.where else table.title
    return TableSummary(table.name, title, tuple((what, words) for what, words in facts if words))


def describe_published(table: Table, asked: int) -> str:
    path = results_file(table, table.path.parent)
    if not path.exists():
        return "" if table.path.is_relative_to(PACKAGED) else "none"  # a wheel has no results
    results = read_results(table, path)
    rows = list(results.rows.values())
    failed = sum("error" in row for row in rows)
    left = sum(1 for cell in table.cells() for seed in range(cell.seeds) if (*cell.key, seed) not in results.rows)
    kinds = sorted({devices(row).partition(",")[0] for row in rows if "error" not in row})
    cost = hours(sum(row.get("seconds", 0.0) for row in rows))
    on = f" on {'; '.join(kinds)}" if kinds else ""
    beyond = len(rows) - (asked - left)  # seeds beyond those asked for
    more = f" and {beyond} more" if beyond else ""
    return f"{asked - left} of {asked} runs{more}" + (f" ({failed} failed)" if failed else "") + f", {cost}{on}"
