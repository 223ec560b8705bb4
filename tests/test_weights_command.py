"""`--weight`, `--class-weight`, `--threshold` and `--positive` on the command line, with rubbish in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Regard, write_csv

WORDS = ("film", "food", "book", "room", "day", "trip", "song", "game")
ROWS = [
    (f"{word} {thing}", word, str(n % 3)) for n, word in enumerate(("good", "bad", "bad", "bad") * 3) for thing in WORDS
]
HEAD = ("text", "label", "importance")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "texts.csv", ROWS, HEAD)


def test_a_column_of_weights(regard: Regard, file: Path, tmp_path: Path) -> None:
    result = regard("train", file, "--weight", "importance", "--out", tmp_path / "run", "--epochs", 1)
    assert result.code == 0, result.err
    assert "32 rows have weight 0: left out" in result.err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["texts"] == 64
    again = regard("train", file, "--weight", "importance", "--out", tmp_path / "run", "--epochs", 1, "--resume")
    assert "nothing left to do" in again.err
    other = regard("train", file, "--out", tmp_path / "run", "--epochs", 1, "--resume")
    assert other.code == 2, "other weights are another run"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("-1", "row 3, column 'importance': expected a weight, a number of at least 0, got '-1'"),
        ("", "row 3, column 'importance': expected a weight, a number of at least 0, got ''"),
        ("much", "got 'much'"),
        ("nan", "got 'nan'"),
        ("1e999", "got '1e999'"),
    ],
)
def test_bad_weights_name_the_row(regard: Regard, tmp_path: Path, value: str, message: str) -> None:
    rows = [*ROWS[:2], (*ROWS[2][:2], value), *ROWS[3:]]
    bad = write_csv(tmp_path / "bad.csv", rows, HEAD)
    result = regard("train", bad, "--weight", "importance", "--out", tmp_path / "run")
    assert result.code == 2
    assert message in result.error
    assert not (tmp_path / "run").exists()
    result = regard("train", bad, "--weight", "importance", "--out", tmp_path / "run", "--epochs", 1, "--skip-bad-rows")
    assert result.code == 0
    assert "1 row was skipped" in result.err


def test_refused_options(regard: Regard, file: Path, tmp_path: Path) -> None:
    (tmp_path / "weights.toml").write_text("god = 3\n")
    lines = tmp_path / "lines.txt"
    lines.write_text("__label__a good film\n__label__b bad film\n")
    for argv, message in (
        ((file, "--weight", "imprtance"), "no column 'imprtance' (--weight); did you mean 'importance'?"),
        ((file, "--weight", "label", "--label", "label"), "expected a column of numbers for --weight, got 'label'"),
        ((lines, "--weight", "w"), "no column 'w' (--weight); lines and folders of text have no columns"),
        ((file, "--class-weight", tmp_path / "weights.toml"), "expected classes among 'bad', 'good', got 'god'"),
        ((file, "--class-weight", tmp_path / "none.toml"), "expected 'balanced' or a TOML or JSON file"),
        ((file, "--class-weight", "balanced", "--task", "regression"), "class_weight = 'balanced' needs classes"),
        (
            (file, "--label", "importance", "--task", "regression", "--threshold", 0.3),
            "threshold = 0.3 needs two classes",
        ),
        ((file, "--label", "importance", "--threshold", "best-f1"), "threshold = 'best-f1' needs two classes"),
        ((file, "--positive", "god"), "positive: expected one of 'bad', 'good', got 'god'"),
    ):
        result = regard("train", *argv, "--out", tmp_path / "run")
        assert result.code == 2, argv
        assert message in result.error
        assert not (tmp_path / "run").exists()


def test_thresholds_from_training_to_prediction(regard: Regard, file: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    argv = ("--class-weight", "balanced", "--threshold", "best-f1", "--positive", "bad", "--epochs", 2)
    result = regard("train", file, "--out", run, *argv)
    assert result.code == 0, result.err
    assert "weights of classes: good 2, bad 0.667" in result.err
    assert "predicting 'bad' from a probability of" in result.err
    task = json.loads((run / "task.json").read_text())
    assert task["classes"] == ["good", "bad"]
    (threshold,) = task["thresholds"]
    task["thresholds"] = [0.999]
    (run / "task.json").write_text(json.dumps(task))
    scores = json.loads(regard("evaluate", run, file, "--json", "--no-verify").out)
    assert scores["per_class"]["good"]["recall"] == 1.0, "nearly nothing reaches a probability of 0.999"
    assert 0.02 <= threshold <= 0.98
    (run / "task.json").write_text(json.dumps({**task, "thresholds": [1.5]}))
    result = regard("predict", run, file, "--no-verify")
    assert result.code == 2
    assert "thresholds" in result.error
