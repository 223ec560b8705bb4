"""HAN with GRUs, as its authors had it: trained, saved, explained and reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import TINY, Regard
from regard.models.folder import load

TEXT = "The staff were kind. The room was not clean!"


@pytest.fixture(scope="module")
def han(table: Path) -> Path:
    from regard.cli import main

    folder = table.parent / "gru-han"
    options = ("--levels", "2", "--encoder", "bigru", "--pooling", "attention")
    assert main(["train", str(table), *TINY, *options, "--out", str(folder)]) == 0
    return folder


def test_a_saved_run_answers_as_before(han: Path, regard: Regard) -> None:
    trained = load(han)
    assert [level.encoder.directions for level in trained.model.levels] == [2, 2]  # type: ignore[union-attr]
    first, again = (regard("predict", han, TEXT, "--format", "jsonl").out for _ in range(2))
    assert first == again


def test_its_words_are_explained_and_reported(han: Path, table: Path, regard: Regard, tmp_path: Path) -> None:
    for method in ("attention", "gradient_times_input", "leave_one_out"):
        (row,) = map(json.loads, regard("explain", han, TEXT, "--method", method, "--format", "jsonl").out.splitlines())
        assert len(row["tokens"]) == 11
    page = tmp_path / "report.html"
    result = regard("report", han, "--data", table, "--out", page)
    assert result.code == 0, result.err
    assert "bigru" in page.read_text(encoding="utf-8")
