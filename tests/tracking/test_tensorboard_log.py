"""Runs in TensorBoard, as its own reader sees them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from killed_process import assert_no_texts, every_death, killed_and_resumed, train

pytest.importorskip("tensorboard")


def read(folder: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    reader = EventAccumulator(str(folder))
    reader.Reload()
    return reader


@every_death
def test_a_resumed_run_has_every_epoch_once(tmp_path: Path, death: str) -> None:
    history = killed_and_resumed(tmp_path, "tensorboard:logs", death)["history"]
    assert os.listdir(tmp_path / "logs") == ["run"]
    reader = read(tmp_path / "logs" / "run")
    for name, values in {
        "loss": [record["loss"] for record in history],
        "dev/accuracy": [record["dev"]["accuracy"] for record in history],
        "scores/words/std": [record["scores"]["words"]["std"] for record in history],
    }.items():
        scalars = reader.Scalars(name)
        assert [scalar.step for scalar in scalars] == [1, 2, 3, 4]
        assert [scalar.value for scalar in scalars] == pytest.approx(values)


def test_settings_and_final_metrics_without_texts(tmp_path: Path) -> None:
    train(tmp_path, "--log", "tensorboard:logs", "--out", "run", "--test", "films.csv")
    reader = read(tmp_path / "logs" / "run")
    (accuracy,) = reader.Scalars("final/test/accuracy")
    assert accuracy.value == 1
    (settings,) = reader.Tensors("settings")
    table = settings.tensor_proto.string_val[0].decode()
    assert "| training.epochs | 4 |" in table
    assert "| data.train | films.csv |" in table
    assert_no_texts(tmp_path / "logs")


def test_each_run_has_its_own_folder(tmp_path: Path) -> None:
    for _ in range(2):
        train(tmp_path, "--log", "tensorboard:logs", "--out", "run", "--overwrite")
    assert sorted(os.listdir(tmp_path / "logs")) == ["run", "run-2"]
    assert [scalar.step for scalar in read(tmp_path / "logs" / "run-2").Scalars("loss")] == [1, 2, 3, 4]


def test_an_unwritable_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    errors = train(tmp_path, "--log", "tensorboard:file/logs", "--out", "run", code=2)
    assert errors == f"regard: file/logs: cannot be a folder, because {tmp_path / 'file'} is a file\n"
    assert not (tmp_path / "run").exists()


def test_neither_torch_nor_tensorflow_is_imported(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = f"""
import sys
from regard import TextClassifier
TextClassifier(epochs=1, log="tensorboard:{tmp_path}").fit(["a good film", "a bad film"] * 20, [1, 0] * 20)
print({{"torch", "tensorflow"}} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
    assert os.listdir(tmp_path) == ["TextClassifier"]
