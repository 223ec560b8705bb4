"""A run that is killed at any moment and resumed has the same weights as an uninterrupted one; what --resume refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from command import TINY, Regard
from killed import Kill, Killed, assert_same_run, metrics_of, weights
from regard import files, run_folders
from regard.config import Config
from regard.errors import InputError
from regard.recorder import Silent
from regard.runs import train_run
from regard.training import fit_sparse

SMALL = {"hidden": 8, "embedding": 8, "query": 8, "epochs": 4, "batch_size": 16, "device": "cpu"}


class Listener(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


@pytest.fixture(autouse=True)
def _saved_every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sparse engine too, which writes no checkpoints in runs of a few seconds."""
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)


both_engines = pytest.mark.parametrize("engine", ["torch", "sparse"])


def config_of(table: Path, **options: object) -> Config:
    return Config().override({**SMALL, "train": str(table), **options})


def start(config: Config, out: Path, recorder: Silent | None = None) -> None:
    train_run(config, out, False, False, recorder or Silent())


def resume(config: Config, out: Path) -> list[str]:
    listener = Listener()
    train_run(config, out, True, False, listener)
    return listener.notes


KINDS: dict[str, dict[str, object]] = {
    "adam": {"engine": "torch"},
    "adagrad": {"engine": "torch", "optimizer": "adagrad", "l2": 0.001},
    "sgd": {"engine": "torch", "optimizer": "sgd", "lr": 0.5},
    "much dropout": {"dropout": 0.7, "encoder": "cnn", "pooling": "max"},
    "two levels": {"levels": 2, "encoder": "bilstm", "pooling": "apln"},
    "three levels": {"levels": 3, "pooling": "norm_unit"},
    "frozen": {"freeze_embeddings": True, "encoder": "affine"},
    "a regression": {"task": "regression", "pooling": "apln", "norm": "sample"},
    "dot attention": {"engine": "torch", "attention": "dot", "vtw": 0.1},
    "no dev": {"engine": "torch", "dev_fraction": 0.0},
    "sparse": {},
    "sparse, sgd": {"optimizer": "sgd", "lr": 0.5},
    "sparse, penalties": {"l2": 0.001, "attention": "dot", "vtw": 0.1},
    "sparse, affine": {"encoder": "affine", "attention": "additive"},
    "sparse, much dropout": {"dropout": 0.7},
    "sparse, a constant rate": {"decay": False},
    "sparse, a regression": {"task": "regression"},
    "sparse, no dev": {"dev_fraction": 0.0},
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_has_the_same_weights(table: Path, tmp_path: Path, kind: str) -> None:
    config = config_of(table, **KINDS[kind])
    start(config, tmp_path / "unbroken")
    assert metrics_of(tmp_path / "unbroken")["engine"].startswith("sparse") == kind.startswith("sparse")
    with pytest.raises(Killed):
        start(config, tmp_path / "killed", Kill(step=3))
    assert os.listdir(tmp_path / "killed") == ["checkpoint.safetensors"]
    assert "resuming after epoch 2" in resume(config, tmp_path / "killed")
    assert_same_run(tmp_path / "killed", tmp_path / "unbroken")


@both_engines
def test_early_stopping_in_the_same_epoch(table: Path, tmp_path: Path, engine: str) -> None:
    config = config_of(table, epochs=30, patience=2, lr=0.2, engine=engine)
    start(config, tmp_path / "unbroken")
    metrics = metrics_of(tmp_path / "unbroken")
    assert metrics["best_epoch"] + 2 == metrics["epochs"] < 30
    for epoch in (metrics["best_epoch"] + 1, metrics["epochs"]):  # the best weights are then not the last ones
        out = tmp_path / f"killed {epoch}"
        with pytest.raises(Killed):
            start(config, out, Kill(begin=epoch))
        resume(config, out)
        assert_same_run(out, tmp_path / "unbroken")


def test_killed_before_the_first_checkpoint(table: Path, tmp_path: Path) -> None:
    config = config_of(table)
    with pytest.raises(Killed):
        start(config, tmp_path / "deep" / "run", Kill(step=1))
    assert list(tmp_path.iterdir()) == []
    notes = resume(config, tmp_path / "deep" / "run")
    assert f"{tmp_path / 'deep' / 'run'} has no checkpoint to resume from; starting from the beginning" in notes
    start(config, tmp_path / "unbroken")
    assert_same_run(tmp_path / "deep" / "run", tmp_path / "unbroken")


@both_engines
def test_killed_twice(table: Path, tmp_path: Path, engine: str) -> None:
    config = config_of(table, engine=engine)
    start(config, tmp_path / "unbroken")
    with pytest.raises(Killed):
        start(config, tmp_path / "killed", Kill(begin=2))
    with pytest.raises(Killed):
        train_run(config, tmp_path / "killed", True, False, Kill(step=4))
    assert "resuming after epoch 3" in resume(config, tmp_path / "killed")
    assert_same_run(tmp_path / "killed", tmp_path / "unbroken")


def after(count: int, real: Callable[..., Any]) -> Callable[..., Any]:
    """The function for `count` calls; the next one kills the run."""
    calls = [0]

    def counted(*arguments: Any, **named: Any) -> Any:
        calls[0] += 1
        if calls[0] > count:
            raise Killed
        return real(*arguments, **named)

    return counted


@both_engines
@pytest.mark.parametrize("files_moved", range(7))
def test_killed_while_the_finished_run_is_saved(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files_moved: int, engine: str
) -> None:
    """Before the first of six files is moved into place, between any two, and before the checkpoint is removed."""
    config, out = config_of(table, epochs=2, engine=engine), tmp_path / "killed"
    start(config, tmp_path / "unbroken")
    with monkeypatch.context() as patch:
        patch.setattr(files, "remove_leftovers", lambda *_: None)  # a killed process cleans nothing up
        patch.setattr(os, "replace", after(2 + files_moved, os.replace))  # two checkpoints come first
        patch.setattr(Path, "unlink", after(2, Path.unlink))  # the old checkpoint and the old last file
        with pytest.raises(Killed):
            start(config, out)
    assert (out / "checkpoint.safetensors").exists()
    assert "resuming after epoch 2" in resume(config, out)
    assert_same_run(out, tmp_path / "unbroken")


@both_engines
def test_killed_while_a_checkpoint_is_written(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    config = config_of(table, engine=engine)
    start(config, tmp_path / "unbroken")
    for written in (0, 2):
        out = tmp_path / f"killed {written}"
        with monkeypatch.context() as patch:
            patch.setattr(files, "remove_leftovers", lambda *_: None)
            patch.setattr(os, "fsync", after(written, os.fsync))
            with pytest.raises(Killed):
                start(config, out)
        assert [file.name for file in files.temporary_files(out)] == ["checkpoint.safetensors"]
        resume(config, out)
        assert_same_run(out, tmp_path / "unbroken")


def test_a_run_that_overwrites_another_can_be_resumed(table: Path, tmp_path: Path) -> None:
    old, new, out = config_of(table, seed=5), config_of(table), tmp_path / "run"
    start(new, tmp_path / "unbroken")
    start(old, out)
    before = weights(out)
    with pytest.raises(Killed):
        train_run(new, out, False, True, Kill(begin=2))
    assert weights(out) == before, "the old run stays until the new one is complete"
    resume(new, out)
    assert_same_run(out, tmp_path / "unbroken")


def test_a_failed_start_leaves_the_run_it_would_overwrite(regard: Regard, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    start(config_of(table), out)
    before = weights(out)
    assert regard("train", table, *TINY, "--out", out, "--overwrite", "--encoder", "rnn").code == 2
    assert weights(out) == before
    assert regard("predict", out, "good film").code == 0


@both_engines
def test_the_seed_determines_the_weights(table: Path, tmp_path: Path, engine: str) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        start(config_of(table, seed=seed, engine=engine), tmp_path / name)
    assert weights(tmp_path / "a") == weights(tmp_path / "b")
    assert weights(tmp_path / "a") != weights(tmp_path / "c")


@both_engines
def test_a_resumed_run_may_have_more_epochs(table: Path, tmp_path: Path, engine: str) -> None:
    options = {"engine": engine, "patience": 0, "decay": False}
    start(config_of(table, **options), tmp_path / "unbroken")
    with pytest.raises(Killed):
        start(config_of(table, **options, epochs=3), tmp_path / "killed", Kill(begin=3))
    resume(config_of(table, **options), tmp_path / "killed")
    assert_same_run(tmp_path / "killed", tmp_path / "unbroken")


def test_more_epochs_are_refused_with_decay(table: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        start(config_of(table, decay=True), tmp_path / "run", Kill(begin=3))
    with pytest.raises(InputError, match="this run was started with other options or texts"):
        resume(config_of(table, decay=True, epochs=5), tmp_path / "run")


def test_a_short_sparse_run_writes_no_checkpoint(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 1000)
    config = config_of(table)
    with pytest.raises(Killed):
        start(config, tmp_path / "run", Kill(begin=4))
    assert list(tmp_path.iterdir()) == []
    assert f"{tmp_path / 'run'} has no checkpoint to resume from; starting from the beginning" in resume(
        config, tmp_path / "run"
    )


# What --resume reports and refuses


def halfway(table: Path, out: Path) -> None:
    with pytest.raises(Killed):
        start(config_of(table), out, Kill(begin=3))


OPTIONS = ("--hidden", 8, "--embedding", 8, "--query", 8, "--epochs", 4, "--batch-size", 16, "--device", "cpu")


@pytest.mark.parametrize("end", ["killed", "finished"])
@pytest.mark.parametrize("other", [("--lr", 0.5), ("--seed", 1), ("--levels", 2), ("--dev-fraction", 0.2), ("--l2", 1)])
def test_other_options_are_refused(
    regard: Regard, table: Path, tmp_path: Path, end: str, other: tuple[str, int]
) -> None:
    out = tmp_path / "run"
    if end == "killed":
        halfway(table, out)
    else:
        start(config_of(table), out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    result = regard("train", table, *OPTIONS, *other, "--out", out, "--resume")
    assert result.code == 2
    assert f"{out}: this run was started with other options or texts" in result.error
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert regard("train", table, *OPTIONS, "--out", out, "--resume").code == 0


def test_other_texts_are_refused(regard: Regard, table: Path, tmp_path: Path) -> None:
    halfway(table, tmp_path / "run")
    lines = table.read_text().splitlines(keepends=True)
    other = tmp_path / "other.csv"
    other.write_text("".join(lines[:-1]))
    result = regard("train", other, *OPTIONS, "--out", tmp_path / "run", "--resume")
    assert "this run was started with other options or texts" in result.error
    moved = tmp_path / "moved.csv"
    moved.write_text("".join(lines))
    assert regard("train", moved, *OPTIONS, "--out", tmp_path / "run", "--resume").code == 0, "the path does not matter"


def test_a_finished_run_is_only_reported(regard: Regard, table: Path, tmp_path: Path) -> None:
    start(config_of(table), tmp_path / "run")
    before = (tmp_path / "run" / "weights.safetensors").stat().st_mtime_ns
    result = regard("train", table, *OPTIONS, "--out", tmp_path / "run", "--resume")
    assert result.code == 0
    assert f"{tmp_path / 'run'} is finished after 4 epochs; nothing left to do" in result.err
    assert "accuracy" in result.out
    assert (tmp_path / "run" / "weights.safetensors").stat().st_mtime_ns == before


def test_runs_without_out_get_the_next_free_name(
    regard: Regard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("stars", "stars-2"):
        assert f"saved in runs/{name};" in regard("train", table, *TINY).out
    assert "saved in runs/stars;" in regard("train", table, *TINY, "--overwrite").out
    assert "runs/stars-2 is finished" in regard("train", table, *TINY, "--resume").err
    assert sorted(os.listdir("runs")) == ["stars", "stars-2"]


def test_the_unfinished_one_of_several_runs_is_resumed(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folders, "FOLDER", tmp_path)
    halfway(table, tmp_path / "stars")
    start(config_of(table, seed=3), tmp_path / "stars-2")
    _, folder = train_run(config_of(table), None, True, False, Silent())
    assert folder == tmp_path / "stars"
    assert not (folder / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("name", ["films/train.csv", "films/data.csv", "films.csv", "films.csv.gz"])
def test_a_run_is_named_after_its_texts(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert next(run_folders.folders(name, None, resume=False, overwrite=False)) == Path("runs/films")


SAVE_ALWAYS = "from regard.cli import main; from regard.training import fit_sparse; fit_sparse.SAVED_EVERY = 0; main()"


@pytest.mark.slow
@both_engines
def test_kill_9(table: Path, tmp_path: Path, engine: str) -> None:
    command = [sys.executable, "-c", SAVE_ALWAYS, "train", table, *TINY, "--epochs", "400", "--patience", "0"]
    command += ["--engine", engine]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    quiet: dict[str, Any] = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*command, "--out", tmp_path / "unbroken"], **quiet, check=True)
    with subprocess.Popen([*command, "--out", tmp_path / "killed"], **quiet) as process:
        while not (tmp_path / "killed" / "checkpoint.safetensors").exists():
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    subprocess.run([*command, "--out", tmp_path / "killed", "--resume"], **quiet, check=True)
    assert_same_run(tmp_path / "killed", tmp_path / "unbroken")


def test_the_fingerprint_ignores_the_path_of_the_texts(table: Path) -> None:
    from regard.training.preparation import fingerprint

    one, other = config_of(table), config_of(table, train="elsewhere.csv", epochs=9)
    assert fingerprint(one, ["texts"], "cpu") == fingerprint(other, ["texts"], "cpu")
    assert fingerprint(one, ["texts"], "cpu") != fingerprint(one, ["other", "texts"], "cpu")
    assert fingerprint(one, ["texts"], "cpu") != fingerprint(one, ["texts"], "cuda")
    assert fingerprint(one, ["texts"], "cpu") != fingerprint(config_of(table, seed=1), ["texts"], "cpu")
    falling = [config_of(table, decay=True, epochs=epochs) for epochs in (4, 9)]
    assert fingerprint(falling[0], ["texts"], "cpu") != fingerprint(falling[1], ["texts"], "cpu")


def test_both_engines_distinguish_texts(table: Path) -> None:
    from regard.data.corpus_ids import CorpusIndexer
    from regard.data.readers import read
    from regard.training.fit_torch import digest

    examples = read(table).examples
    for hash_of in (digest, lambda several: CorpusIndexer(True, None).read(several).digest):
        assert hash_of(examples) == hash_of(list(examples))
        for others in (examples[:-1], examples[::-1], [*examples[:-1], replace(examples[-1], label="7")]):
            assert hash_of(examples) != hash_of(others)


def test_overwriting_never_leaves_a_mixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of several old files is removed before the first new one is written."""
    files.write_all(tmp_path, {"first": b"old", "last": b"old"})
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", after(1, os.replace))
        with pytest.raises(Killed):
            files.write_all(tmp_path, {"first": b"new", "last": b"new"})
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert contents.pop("first") == b"new"
    ((name, content),) = contents.items()
    assert name.startswith(".last."), "the complete new file is kept"
    assert content == b"new"
    (tmp_path / name).unlink()
    files.write_all(tmp_path, {"last": b"old"})
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", after(0, os.replace))
        with pytest.raises(Killed):
            files.write_all(tmp_path, {"last": b"new"})
    assert (tmp_path / "last").read_bytes() == b"old", "a single file is replaced at once"


def test_a_new_folder_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (Path("a"), Path("a/b/c"), tmp_path / "d", Path()):
        files.check_writable(folder)
    assert os.listdir() == []
