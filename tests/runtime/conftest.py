"""Runs that the runtime can load: of the fast engine with several classes and with numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.cli import main


@pytest.fixture(scope="session")
def flat_run(table: Path) -> Path:
    folder = table.parent / "runtime-flat"
    assert main(["train", str(table), "--task", "multiclass", "--epochs", "3", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def number_run(table: Path) -> Path:
    folder = table.parent / "runtime-number"
    assert main(["train", str(table), "--task", "regression", "--epochs", "3", "--out", str(folder)]) == 0
    return folder
