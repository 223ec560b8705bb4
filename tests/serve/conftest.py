"""Served runs of every kind: a flat one, two hierarchical ones to compare, and a regression."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Serving, serving

from command import TINY
from regard.cli import main


@pytest.fixture(scope="session")
def flat_run(table: Path) -> Path:
    folder = table.parent / "flat"
    assert main(["train", str(table), "--task", "multiclass", "--epochs", "3", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def han(table: Path) -> Path:
    folder = table.parent / "han"
    assert main(["train", str(table), *TINY, "--encoder", "bilstm", "--levels", "2", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def short(table: Path) -> Path:
    """A run that reads only the first five words."""
    folder = table.parent / "short"
    options = ("--max-words", "5", "--epochs", "1")
    assert main(["train", str(table), "--task", "multiclass", *options, "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def flat(flat_run: Path) -> Iterator[Serving]:
    with serving(flat_run) as server:
        yield server


@pytest.fixture(scope="session")
def two(han: Path, run: Path) -> Iterator[Serving]:
    """HAN and HAN-APLN; the latter is called `run`."""
    with serving(han, run) as server:
        yield server


@pytest.fixture(scope="session")
def numbers(rated: Path) -> Iterator[Serving]:
    with serving(rated) as server:
        yield server
