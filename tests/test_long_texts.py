"""A model that rejects long texts: every command that reads a file reports the file and the row, as training does."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import Regard, write_csv
from regard.cli import main
from regard.commands import predict
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
    "command", ["predict FILE", "evaluate FILE", "explain --file FILE", "report --data FILE", "audit --data FILE"]
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
    monkeypatch.setattr(predict, "LARGE", 0)
    path = write_csv(tmp_path / "long.csv", LONG)
    result = regard("predict", strict_run, path, "--out", tmp_path / "answers.csv")
    assert f"{path}, row 5: expected a text of up to 18 word pieces" in result.error
    assert "got 19;" in result.error
    assert not (tmp_path / "answers.csv").exists()
