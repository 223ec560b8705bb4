"""A model that refuses long texts: every command that reads a file names the file and the row, as training does."""

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
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of `--window 0`."""
    folder = tmp_path_factory.mktemp("refusing")
    options = ["--encoder", "bert", "--pretrained", save_bert(folder / "bert"), "--window", 0, "--pooling", "attention"]
    argv = ["train", write_csv(folder / "short.csv", ROWS), *options, "--epochs", 1, "--device", "cpu"]
    assert main([*map(str, argv), "--out", str(folder / "run")]) == 0
    return folder / "run"


@pytest.mark.parametrize(
    "command", ["predict FILE", "evaluate FILE", "explain --file FILE", "report --data FILE", "audit --data FILE"]
)
def test_a_text_that_is_too_long_is_named_by_file_and_row(
    regard: Regard, refusing: Path, tmp_path: Path, command: str
) -> None:
    path = write_csv(tmp_path / "long.csv", LONG)
    name, *options = command.replace("FILE", str(path)).split()
    said = regard(name, refusing, *options)
    assert said.code == 2
    assert said.out == ""
    assert f"{path}, row 5: a text of 19 word pieces is longer than the 18" in said.complaint


def test_so_it_is_in_a_file_that_is_answered_while_it_is_read(
    regard: Regard, refusing: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict, "LARGE", 0)
    path = write_csv(tmp_path / "long.csv", LONG)
    said = regard("predict", refusing, path, "--out", tmp_path / "answers.csv")
    assert f"{path}, row 5: a text of 19 word pieces" in said.complaint
    assert not (tmp_path / "answers.csv").exists()
