"""A model that rejects long texts: every command that reads a file reports the file and the row, as training does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Regard, write_csv
from regard.cli import main
from regard.commands import reading
from tiny_bert import save_bert

pytest.importorskip("transformers")

ROWS = [(f"it was {word}", word) for word in ("good", "bad") * 10]
LONG = [*ROWS[:4], ("good " * 19, "good"), *ROWS[5:]]


@pytest.fixture(scope="module")
def strict_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of `--window 0`."""
    folder = tmp_path_factory.mktemp("strict_run")
    options = ["--encoder", "bert", "--pretrained", save_bert(folder / "bert"), "--window", 0, "--pooling", "attention"]
    argv = ["train", write_csv(folder / "short.csv", ROWS), *options, "--epochs", 1, "--device", "cpu"]
    assert main([*map(str, argv), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.mark.parametrize(
    "command",
    ["predict FILE --strict", "evaluate FILE", "explain --file FILE", "report --data FILE", "audit --data FILE"],
)
def test_the_file_and_row_of_a_long_text_are_reported(
    regard: Regard, strict_run: Path, tmp_path: Path, command: str
) -> None:
    path = write_csv(tmp_path / "long.csv", LONG)
    name, *options = command.replace("FILE", str(path)).split()
    result = regard(name, strict_run, *options)
    assert result.code == 2
    assert result.out == ""
    assert f"{path}, row 5: expected a text of up to 18 word pieces" in result.error
    assert "got 19;" in result.error


def test_the_file_and_row_are_reported_for_streamed_files(
    regard: Regard, strict_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LARGE", 0)
    path = write_csv(tmp_path / "long.csv", LONG)
    result = regard("predict", strict_run, path, "--out", tmp_path / "answers.csv", "--strict")
    assert f"{path}, row 5: expected a text of up to 18 word pieces" in result.error
    assert "got 19;" in result.error
    assert not (tmp_path / "answers.csv").exists()


@pytest.mark.parametrize("streamed", [False, True])
def test_a_long_text_among_others_gets_an_error_instead_of_a_prediction(
    regard: Regard, strict_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streamed: bool
) -> None:
    if streamed:
        monkeypatch.setattr(reading, "LARGE", 0)
    path = write_csv(tmp_path / "long.csv", LONG)
    result = regard("predict", strict_run, path)
    assert result.code == 0
    assert "1 of 20 rows has no prediction; see the column error" in result.err
    rows = [json.loads(line) for line in result.out.splitlines()]
    assert [row["row"] for row in rows if "error" in row] == [5]
    assert f"{path}, row 5: expected a text of up to 18 word pieces" in rows[4]["error"]
    assert len(rows) == 20
