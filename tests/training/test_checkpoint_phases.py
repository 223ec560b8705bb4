"""A run that is killed in the middle of a round and resumed ends with the same weights as an uninterrupted one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import safetensors.numpy

from command import TINY, Regard
from killed import Killed, assert_same_run, metrics_of
from regard.config import Config
from regard.errors import InputError
from regard.recorder import Silent
from regard.runs import train_run
from regard.training.preparation import fingerprint

SMALL = {"hidden": 8, "embedding": 8, "query": 8, "epochs": 2, "batch_size": 16, "device": "cpu", "encoder": "lstm"}
# 54 of 60 texts are trained on: 4 steps per epoch. Epochs: 2 of round 0, then 2 rounds of 2 phases of 2
EPOCHS = 10


class Kill(Silent):
    """Stops the run at a step of an epoch, counted over all phases; step 0 is the start of the epoch."""

    def __init__(self, epoch: int, step: int):
        self.left, self.step_left = epoch, step
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.left -= 1
        self.stop_run(0)

    def step(self, loss: float | None) -> None:
        self.stop_run(1)

    def stop_run(self, taken: int) -> None:
        if self.left == 0:
            self.step_left -= taken
            if self.step_left <= 0:
                raise Killed


def config_of(table: Path, **options: object) -> Config:
    return Config().override(
        {**SMALL, "train": str(table), "pooling": "bottleneck", "rounds": 2, "phase_epochs": 2, **options}
    )


KINDS: dict[str, dict[str, object]] = {
    "adam": {},
    "two levels": {"levels": 2, "pooling": "attention,bottleneck", "optimizer": "adagrad"},
    "no dev": {"dev_fraction": 0.0, "optimizer": "sgd", "lr": 0.5},
}


@pytest.mark.parametrize("step", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_killed_in_any_epoch(table: Path, tmp_path: Path, kind: str, step: int) -> None:
    config = config_of(table, **KINDS[kind])
    train_run(config, tmp_path / "unbroken", False, False, Silent())
    assert metrics_of(tmp_path / "unbroken")["epochs"] == EPOCHS
    for epoch in range(2, EPOCHS + 1) if kind == "adam" else (4, 6, 9):
        out = tmp_path / f"killed in {epoch}"
        with pytest.raises(Killed):
            train_run(config, out, False, False, Kill(epoch, step))
        train_run(config, out, True, False, Silent())
        assert_same_run(out, tmp_path / "unbroken")


def test_killed_in_every_epoch(table: Path, tmp_path: Path) -> None:
    config, out, notes = config_of(table), tmp_path / "killed", []
    train_run(config, tmp_path / "unbroken", False, False, Silent())
    for resume in range(EPOCHS):
        recorder = Kill(2, 2)  # each process finishes one epoch
        if resume == EPOCHS - 1:
            train_run(config, out, True, False, recorder)
        else:
            with pytest.raises(Killed):
                train_run(config, out, resume > 0, False, recorder)
        notes += [note for note in recorder.notes if note.startswith("resuming after")]
    assert (
        notes
        == [
            f"resuming after epoch {epoch} ({title})"
            for epoch, title in enumerate(
                ["round 0/2 · attention"] * 2
                + [
                    f"round {number}/2 · {phase}"
                    for number in (1, 2)
                    for phase in ("learner", "compressor")
                    for _ in "12"
                ],
                1,
            )
        ][:-1]
    )
    assert_same_run(out, tmp_path / "unbroken")


def test_each_kind_of_phase_keeps_its_optimiser_across_rounds(table: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        train_run(config_of(table), tmp_path / "run", False, False, Kill(EPOCHS, 1))
    saved = safetensors.numpy.load_file(tmp_path / "run" / "checkpoint.safetensors")
    steps = {name.split("/")[1]: float(value) for name, value in saved.items() if name.endswith("/step")}
    # the last epoch, the second of the compressor's second phase, was not finished
    assert steps == {"attention": 2 * 4, "learner": 4 * 4, "compressor": 3 * 4}


def test_epochs_of_round_0_are_part_of_the_identity(table: Path, tmp_path: Path) -> None:
    """No more of them can be added once the rounds have begun."""
    with pytest.raises(Killed):
        train_run(config_of(table), tmp_path / "run", False, False, Kill(4, 1))
    with pytest.raises(InputError, match="this run was started with other options or texts"):
        train_run(config_of(table, epochs=3), tmp_path / "run", True, False, Silent())
    for other in ({"beta": 1.0}, {"rounds": 3}, {"phase_epochs": 1}, {"epochs": 3}):
        assert fingerprint(config_of(table), [], "cpu") != fingerprint(config_of(table, **other), [], "cpu")


def test_the_command_line_resumes_in_the_middle_of_a_round(regard: Regard, table: Path, tmp_path: Path) -> None:
    words = ("--pooling", "bottleneck", "--rounds", 2, "--phase-epochs", 2, "--encoder", "lstm", "--batch-size", 16)
    sizes = ("--hidden", 8, "--embedding", 8, "--query", 8, "--epochs", 2, "--device", "cpu")
    with pytest.raises(Killed):
        train_run(config_of(table), tmp_path / "killed", False, False, Kill(6, 2))
    command = regard("train", table, *words, *sizes, "--out", tmp_path / "killed", "--resume")
    assert command.code == 0, command.err
    assert "resuming after epoch 5 (round 1/2 · compressor)" in command.err
    lines = [line.partition(" · loss")[0] for line in command.err.splitlines() if line.startswith("round")]
    assert lines[:2] == ["round 1/2 · compressor · epoch  2/2", "round 2/2 · learner · epoch  1/2"]
    train_run(config_of(table), tmp_path / "unbroken", False, False, Silent())
    assert_same_run(tmp_path / "killed", tmp_path / "unbroken")


@pytest.mark.slow
def test_kill_9(table: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from regard.cli import main; main()", "train", table, *TINY]
    command += ["--pooling", "bottleneck", "--rounds", "40"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    quiet: dict[str, Any] = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*command, "--out", tmp_path / "unbroken"], **quiet, check=True)
    with subprocess.Popen([*command, "--out", tmp_path / "killed"], **quiet) as process:
        while not (tmp_path / "killed" / "checkpoint.safetensors").exists():
            assert process.poll() is None
            time.sleep(0.001)
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    subprocess.run([*command, "--out", tmp_path / "killed", "--resume"], **quiet, check=True)
    assert_same_run(tmp_path / "killed", tmp_path / "unbroken")
