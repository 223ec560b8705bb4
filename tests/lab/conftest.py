"""Fixtures for tests of `regard reproduce`: a folder of corpora, and a small table of three methods on two of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from toys import TOML, write_texts

from regard_lab.kinds.kinds import KINDS
from regard_lab.reading.table_file import read_table
from regard_lab.results import complete
from regard_lab.tables.table import Table


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "data"
    for name in ("films", "meals"):
        for split, count, start in (("train", 60, 0), ("dev", 20, 60), ("test", 20, 80)):
            write_texts(folder / name / f"{split}.jsonl", count, start)
    monkeypatch.setenv("REGARD_DATA", str(folder))
    return folder


@pytest.fixture
def experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with experiments/toy/table.toml below it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REGARD_EXPERIMENTS", raising=False)
    place = tmp_path / "experiments" / "toy"
    place.mkdir(parents=True)
    (place / "table.toml").write_text(TOML, encoding="utf-8")
    return place


@pytest.fixture
def toy(experiments: Path) -> Table:
    return read_table(experiments / "table.toml", "toy/table")


Rows = list[dict[str, Any]]


@pytest.fixture
def rows_of() -> Callable[[Table, int], Rows]:
    """Rows as written by a run: accuracy 0.50, 0.51, … by method, and 0.01 more per seed."""

    def make(table: Table, seeds: int) -> Rows:
        assert table.kind in KINDS
        rows = []
        for index, cell in enumerate(table.cells()):
            for seed in range(seeds):
                values = {"accuracy": 0.5 + index / 100 + seed / 100, "macro_f": 0.4 + index / 100 - seed / 50}
                result = {"seed": seed, "values": values, "history": {"loss": [1.0, 0.5 - seed / 10]}, "seconds": 2.0}
                result |= {"environment": {"python": "3", "cpu": "1 threads"}, "data": {"films/train.jsonl": "abc"}}
                rows.append(complete(cell, table.name, "cpu", result))
        return rows

    return make
