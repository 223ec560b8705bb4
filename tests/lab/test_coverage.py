"""What is missing is counted from the rows, and every table with missing runs has a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.errors import InputError
from regard_lab.claims.claims import Claims, read_claim
from regard_lab.claims.coverage import TableCoverage, as_data, coverage, planned_runs, section
from regard_lab.claims.table_folder import TableFolder
from regard_lab.claims.verdict_list import make_records
from regard_lab.results import append, complete
from regard_lab.rows import Row
from regard_lab.running.listing import describe_cost

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
    assert "| paper/one | 4 of 8 |  |  | 2 of 3 | News | p-1 | no time |" in text
    assert as_data([entry])[0]["because"] == "no time"


def test_cells_without_a_printed_number_do_not_make_a_claim_about_printed_numbers_incomplete(tmp_path: Path) -> None:
    claims, folder = measured(tmp_path, {"paper/one": "ours comes last"}, {("a", "x"): 2, ("a", "y"): 2})
    entry = covered(claims, folder)
    assert not entry.complete
    assert entry.filled == entry.printed == 3
    assert entry.so_far == []


PLAN = """version = 1
[exploratory]
commit = "abc"
[exploratory.rows]
"paper/one" = 3
[[planned]]
run = "R1"
table = "paper/one"
methods = ["a"]
seeds = 4
[tiers.paper]
x = { tier = "exact", because = "x" }
y = { tier = "exact", because = "y" }
"""


def test_the_protocols_plan_is_counted_beside_the_tables_seeds(tmp_path: Path) -> None:
    """Two seeds are asked for and four planned; of eight rows, three are older than the protocol and two ran on the CPU."""
    (tmp_path / "rules.toml").write_text(PLAN, encoding="utf-8")
    both = {(method, corpus): 2 for method in ("a", "ours") for corpus in "xy"}
    claims, _ = measured(tmp_path, {"paper/one": "R1 is not finished"}, both)
    path = tmp_path / "paper" / "one.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for number, line in enumerate(lines):
        line.update(seconds=60.0, device="cuda" if number < 6 else "cpu")
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    folder = TableFolder(tmp_path)
    (record,) = make_records(claims, folder)
    assert (record.runs, record.asked, record.complete) == (4, 8, False), "so far, although the table is complete"
    entry = covered(claims, folder)
    assert (entry.runs, entry.asked, entry.planned_runs, entry.planned) == (8, 8, 4, 8)
    assert not entry.complete
    assert entry.gpu_minutes == 3.0
    plan = planned_runs(folder)
    assert [(one.run, one.tables, one.runs, one.planned) for one in plan] == [("R1", ["paper/one"], 4, 8)]
    text = "\n".join(section([entry], claims, plan))
    assert "| paper/one | 8 of 8 | 4 of 8 | 3.0 | 3 of 3 | Reviews, News | p-1 | R1 is not finished |" in text
    assert "4 of 8 exist" in text
    assert "took 3.0 GPU minutes" in text
    assert "failed" not in text

    lines[0].pop("values")
    lines[0]["error"] = "out of GPU memory"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    folder = TableFolder(tmp_path)
    entry = covered(claims, folder)
    assert (entry.runs, entry.failed) == (8, 1), "a failed run stays in the results, and is counted"
    text = "\n".join(section([entry], claims, planned_runs(folder)))
    assert "1 of these runs failed and have no values." in text
    assert "| R1 is not finished; 1 of the runs failed |" in text

    same = PLAN.replace('table = "paper/one"', 'table = "paper/one"\nsame_runs_as = "paper/other"')
    (tmp_path / "rules.toml").write_text(same, encoding="utf-8")
    assert covered(claims, TableFolder(tmp_path)).gpu_minutes == 0.0, "they are counted once, with the other table"


def test_hours_on_cpu_and_gpu_are_not_added_up() -> None:
    rows: list[Row] = [
        {"seconds": 60.0, "device": "cpu", "environment": {"cpu": "2 threads"}},
        {"seconds": 300.0, "device": "cuda", "environment": {"cuda": "A GPU"}},
        {"seconds": 300.0, "device": "cuda", "environment": {"cuda": "A GPU"}},
    ]
    assert describe_cost(rows) == "60 s on CPU: 2 threads and 10 min on CUDA: A GPU"


def test_the_plan_is_that_of_the_protocol() -> None:
    folder = TableFolder(Path(__file__).parents[2] / "experiments")
    for plan in folder.book.plans:
        table = folder.table(plan.table)
        assert set(plan.methods) <= set(table.methods)
        assert set(plan.corpora) <= set(table.corpora)
        assert set(plan.settings) <= set(table.settings)
    planned = {one.run: one.planned for one in planned_runs(folder)}
    assert list(planned) == [f"R{number}" for number in range(1, 14)]
    assert planned["R3"] == 4 * (30 + 90 + 90)
    assert planned["R6"] == 6 * (30 + 30 + 15)
    assert planned["R12"] == 126


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
