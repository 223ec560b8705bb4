"""What is missing is counted from the rows, and every table with missing runs has a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import InputError
from regard_lab.claims.claims import Claims, read_claim
from regard_lab.claims.coverage import TableCoverage, as_data, coverage, section
from regard_lab.claims.table_folder import TableFolder
from regard_lab.claims.verdict_list import make_records
from regard_lab.results import append, complete

SOURCES = {"paper": "A paper"}
TOML = """
seeds = 2
measures = ["accuracy", "macro_f"]
[methods.a]
[methods.ours]
[corpora.x]
title = "Reviews"
train = "x"
[corpora.y]
title = "News"
train = "y"
[printed.x]
a = [50.0, 40.0]
[printed.y]
a = [60.0]
"""


def measured(folder: Path, missing: dict[str, str], runs: dict[tuple[str, str], int]) -> tuple[Claims, TableFolder]:
    """A table with this many runs by method and corpus, and a claim about its printed numbers."""
    (folder / "paper").mkdir()
    (folder / "paper" / "one.toml").write_text(TOML, encoding="utf-8")
    table = TableFolder(folder).table("paper/one")
    for cell in table.cells():
        for seed in range(runs.get((cell.method, cell.corpus.name), 0)):
            row = complete(cell, table.name, "cpu", {"seed": seed, "values": {"accuracy": 0.5, "macro_f": 0.4 + seed}})
            append(folder / "paper" / "one.jsonl", row)
    part = {"source": "paper", "claim": "The numbers", "where": "Table 1", "id": "p-1"}
    claim = read_claim({**part, "test": {"rule": "printed", "table": "paper/one"}}, SOURCES, "")
    return Claims(SOURCES, [claim], missing=missing), TableFolder(folder)


def covered(claims: Claims, folder: TableFolder) -> TableCoverage:
    (entry,) = coverage(claims, folder, make_records(claims, folder))
    return entry


def test_printed_numbers_and_runs_are_counted(tmp_path: Path) -> None:
    claims, folder = measured(tmp_path, {"paper/one": "no time"}, {("a", "x"): 2, ("ours", "x"): 3})
    entry = covered(claims, folder)
    assert (entry.runs, entry.asked) == (4, 8), "a third seed was not asked for"
    assert (entry.filled, entry.printed) == (2, 3)
    assert entry.open_corpora == ["News"]
    assert entry.so_far == ["p-1"]
    text = "\n".join(section([entry], claims))
    assert "**2 of 3 printed numbers** have at least one run" in text
    assert "4 of the 8 runs" in text
    assert "1 of the 1 verdicts are marked *so far*" in text
    assert "| paper/one | 4 of 8 | 2 of 3 | News | p-1 | no time |" in text
    assert as_data([entry])[0]["because"] == "no time"


def test_cells_without_a_printed_number_do_not_make_a_claim_about_printed_numbers_incomplete(tmp_path: Path) -> None:
    claims, folder = measured(tmp_path, {"paper/one": "ours comes last"}, {("a", "x"): 2, ("a", "y"): 2})
    entry = covered(claims, folder)
    assert not entry.complete
    assert entry.filled == entry.printed == 3
    assert entry.so_far == []


def test_a_complete_table_is_not_listed(tmp_path: Path) -> None:
    claims, folder = measured(tmp_path, {}, {(method, corpus): 2 for method in ("a", "ours") for corpus in "xy"})
    entry = covered(claims, folder)
    assert entry.complete
    assert "| paper/one |" not in "\n".join(section([entry], claims))


@pytest.mark.parametrize(
    ("missing", "runs", "message"),
    [
        ({}, 1, "expected a reason why runs are missing, got ''"),
        ({"paper/one": "no time"}, 2, "expected no reason, because every run exists, got 'no time'"),
    ],
)
def test_a_reason_is_given_exactly_where_runs_are_missing(
    tmp_path: Path, missing: dict[str, str], runs: int, message: str
) -> None:
    claims, folder = measured(
        tmp_path, missing, {(method, corpus): runs for method in ("a", "ours") for corpus in "xy"}
    )
    with pytest.raises(InputError, match=message):
        covered(claims, folder)
