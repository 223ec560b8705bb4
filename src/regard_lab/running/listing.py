"""The list of tables, each with its size, the corpora that it needs and the cost of its published results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.errors import InputError
from regard_lab.claims.rule_book import RuleBook, read_rule_book
from regard_lab.claims.table_folder import RULES_FILE
from regard_lab.reading.locations import PACKAGED, home, results_file, table_names
from regard_lab.reading.table_file import read_table
from regard_lab.rendering.contents import devices, hours, on_gpu
from regard_lab.results import Results, read_results
from regard_lab.rows import Row
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
    beyond = len(rows) - (asked - left)  # seeds beyond those asked for
    more = f" and {beyond} more" if beyond else ""
    runs = f"{asked - left} of {asked} runs{more}" + (f" ({failed} failed)" if failed else "")
    return ", ".join([runs, *filter(None, (describe_planned(table, results), describe_cost(rows)))])


def describe_planned(table: Table, results: Results) -> str:
    """Of the runs that the protocol plans for this table, how many exist."""
    path = home() / RULES_FILE
    book = read_rule_book(path) if path.exists() else RuleBook()
    planned = {(*cell.key, seed) for cell in table.cells() for seed in range(book.planned(table.name, cell.key))}
    return f"{len(planned & results.rows.keys())} of {len(planned)} planned by the protocol" if planned else ""


def describe_cost(rows: Sequence[Row]) -> str:
    """Hours on the CPU and on GPUs, each with its devices: an hour of the one is not an hour of the other."""
    costs = []
    for gpu in (False, True):
        of_kind = [row for row in rows if on_gpu(row) == gpu]
        kinds = sorted({devices(row).partition(",")[0] for row in of_kind if "error" not in row})
        if of_kind:
            on = "; ".join(kinds) or ("CUDA" if gpu else "CPU")
            costs.append(f"{hours(sum(row.get('seconds', 0.0) for row in of_kind))} on {on}")
    return " and ".join(costs)
