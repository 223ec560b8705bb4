"""Tables in parts: every run belongs to one part, and `--render` merges their files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import Regard
from regard.errors import InputError
from regard_lab.results import append, read_rows
from regard_lab.running.parts import merge_parts, other_parts, parse_part, part_file, part_files, part_of
from regard_lab.tables.table import Table

Rows = list[dict[str, Any]]


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_every_run_belongs_to_one_part(toy: Table, parts: int) -> None:
    cells = list(toy.cells())
    runs = {(*cell.key, seed) for cell in cells for seed in range(4)}
    shares = [runs - other_parts(cells, 4, (part, parts)) for part in range(1, parts + 1)]
    assert sum(map(len, shares)) == len(runs)
    assert set().union(*shares) == runs


def test_the_seeds_of_a_cell_are_dealt_to_all_parts(toy: Table) -> None:
    """So parts are equally large if the number of seeds is a multiple of theirs."""
    cells = list(toy.cells())
    for cell in cells:
        assert sorted(part_of(cell, seed, 3) for seed in range(6)) == [1, 1, 2, 2, 3, 3]
    many = [replace(cell, options={**cell.options, "seed": number}) for cell in cells for number in range(100)]
    sizes = Counter(part_of(cell, seed, 4) for cell in many for seed in range(3))  # 1,500 runs
    assert max(sizes.values()) - min(sizes.values()) < 100


def test_a_run_keeps_its_part_if_the_table_changes(toy: Table) -> None:
    cells = list(toy.cells())
    changed = [replace(cells[0], method="new"), *reversed(cells[2:])]
    for part in range(1, 4):
        before, after = (other_parts(some, seeds, (part, 3)) for some, seeds in ((cells, 4), (changed, 6)))
        kept = {run for run in before | after if run[:3] in {cell.key for cell in cells[2:]} and run[3] < 4}
        assert kept & before == kept & after


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "a/b", "1/2/3", "-1/3", "1/0"])
def test_other_parts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="--part: expected K"):
        parse_part(text)


def test_rows_of_parts_are_copied_once(tmp_path: Path, toy: Table, rows_of: Callable[[Table, int], Rows]) -> None:
    path = tmp_path / "table.jsonl"
    rows = rows_of(toy, 2)
    append(path, rows[0])
    for part, share in ((1, rows[:4]), (3, rows[4:])):
        for row in share:
            append(part_file(path, (part, 3)), row)
    notes = merge_parts(path)
    assert notes[0] == f"{path}: {len(rows) - 1} rows of 2 parts were added"
    assert notes[1] == "of 3 parts, 1 have no results yet: 2"
    assert sorted(map(json.dumps, read_rows(path)[0])) == sorted(map(json.dumps, rows))
    before = path.read_bytes()
    assert merge_parts(path)[0] == f"{path}: 0 rows of 2 parts were added"
    assert path.read_bytes() == before


def test_parts_merge_to_the_plain_run(regard: Regard, experiments: Path, corpora: Path, tmp_path: Path) -> None:
    options = ("reproduce", "toy/table", "--jobs", "0", "--device", "cpu", "--only", "films/plain", "meals")
    assert regard(*options, "--out", "plain").code == 0
    for part in ("1/3", "2/3", "3/3"):
        assert regard(*options, "--out", "parts", "--part", part).code == 0
    assert regard("reproduce", "toy/table", "--render", "--out", "parts").code == 0
    assert len(part_files(tmp_path / "parts" / "table.jsonl")) == 3

    def values(name: str) -> dict[str, Any]:
        rows, _ = read_rows(tmp_path / name / "table.jsonl")
        return {f"{row['corpus']} {row['method']} {row['seed']}": row["values"] for row in rows}

    assert len(values("plain")) == 6
    assert values("parts") == values("plain")


def test_parts_are_not_rendered(regard: Regard, experiments: Path) -> None:
    result = regard("reproduce", "toy/table", "--render", "--part", "1/3")
    assert "--part: cannot be combined with --render" in result.error
