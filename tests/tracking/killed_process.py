"""`regard train` in a process of its own that ends as if it was killed: nothing is closed and nothing cleaned up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import write_csv

WORD, LABEL = "quixotic", "labelzephyr"  # neither may occur in a log
SCRIPT = """
import os, sys
from regard.cli import main
from regard.report.text.progress import ConsoleRecorder
from regard.training import fit_sparse, loop

death = sys.argv[1]
fit_sparse.SAVED_EVERY = 1000 if death == "before any checkpoint" else 0
begin, write_checkpoint = ConsoleRecorder.begin, loop.write_checkpoint

def begin_or_die(self, epoch, epochs, steps):
    if epoch == 3 and death in ("before an epoch", "before any checkpoint"):
        os._exit(9)
    begin(self, epoch, epochs, steps)

def write_or_die(checkpoint, progress, arrays):
    if progress.epoch == 2 and death == "before a checkpoint":  # epoch 2 is logged, but must be trained again
        os._exit(9)
    write_checkpoint(checkpoint, progress, arrays)

ConsoleRecorder.begin, loop.write_checkpoint = begin_or_die, write_or_die
sys.exit(main(sys.argv[2:]))
"""
every_death = pytest.mark.parametrize("death", ["before an epoch", "before a checkpoint", "before any checkpoint"])


def train(folder: Path, *options: object, death: str = "", code: int = 0) -> str:
    """Train on a small table in a folder, which is also the current one. What was written to standard error."""
    texts = [
        (f"a {word} film of {WORD} {n}", label) for n in range(20) for word, label in (("good", LABEL), ("bad", "no"))
    ]
    table = write_csv(folder / "films.csv", texts)
    words = ["train", table.name, "--epochs", "4", "--patience", "0", *map(str, options)]
    source = str(Path(__file__).parent.parent.parent / "src")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "WANDB_MODE": "offline", "PYTHONPATH": source}
    environment = {name: value for name, value in environment.items() if name != "MLFLOW_TRACKING_URI"}
    command = [sys.executable, "-c", SCRIPT, death, *words]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == (9 if death else code), done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done.stderr


def killed_and_resumed(folder: Path, log: str, death: str) -> dict[str, Any]:
    """The metrics of a run that was killed and resumed with the same log."""
    train(folder, "--log", log, "--out", "run", death=death)
    assert (folder / "run" / "tracking.json").is_file()
    train(folder, "--log", log, "--out", "run", "--resume")
    assert not (folder / "run" / "tracking.json").exists()
    metrics: dict[str, Any] = json.loads((folder / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert [record["epoch"] for record in metrics["history"]] == [1, 2, 3, 4]
    return metrics


def assert_no_texts(folder: Path) -> None:
    """No file below a folder has a word of the texts, or a label."""
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else [folder]
    assert files
    for path in files:
        content = path.read_bytes()
        assert WORD.encode() not in content, path
        assert LABEL.encode() not in content, path
