"""Runs to export."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.cli import main
from several_labels import several, write_jsonl


@pytest.fixture(scope="session")
def flat_run(table: Path) -> Path:
    folder = table.parent / "export-flat"
    assert (
        main(["train", str(table), "--task", "multiclass", "--epochs", "3", "--members", "3", "--out", str(folder)])
        == 0
    )
    return folder


@pytest.fixture(scope="session")
def binary_run(table: Path) -> Path:
    """Two classes whose names are markup."""
    rows = table.read_text(encoding="utf-8").replace("\n", "\n")
    path = table.parent / "binary.csv"
    names = {"1": "</script>bad", "2": "</script>bad", "3": "</script>bad", "4": "<b>good", "5": "<b>good"}
    lines = rows.splitlines()
    path.write_text("\n".join([lines[0], *(f"{line[:-1]}{names[line[-1]]}" for line in lines[1:])]), encoding="utf-8")
    folder = table.parent / "<b>markup"
    assert main(["train", str(path), "--epochs", "3", "--members", "1", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def number_run(table: Path) -> Path:
    folder = table.parent / "export-number"
    assert main(["train", str(table), "--task", "regression", "--epochs", "3", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def labels_run(table: Path) -> Path:
    """Several labels per text."""
    path, folder = write_jsonl(table.parent / "several.jsonl", several(200)), table.parent / "export-labels"
    assert main(["train", str(path), "--epochs", "3", "--members", "3", "--out", str(folder)]) == 0
    return folder
