"""A run that is killed at any file operation can be resumed and overwritten, to the same weights as an uninterrupted one.

In the default suite the process only stops: from the chosen operation on, every one that would change a file raises an exception
that nothing catches, so that nothing is cleaned up either. Some combinations of errors and engines are slow tests; so is the one
that sends SIGKILL to a real process.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from command import TINY, Regard, write_csv
from killed import Killed, assert_same_run, weights
from regard import files
from regard.config import Config
from regard.data.reviews import reviews
from regard.errors import InputError
from regard.export.onnx_folder import check_folder
from regard.models.folder import load
from regard.models.run_files import FACTS, GRAPH, MANIFEST, TABLES
from regard.models.saving import save
from regard.recorder import Silent
from regard.runs import Plan, check_claim, start_from, train_run
from regard.training import fit_sparse

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
OPTIONS = {"hidden": 4, "embedding": 4, "query": 4, "epochs": 2, "batch_size": 16, "device": "cpu", "pairs": False}
NOTES = ("README.md", f".README.md.{'0' * 16}.partial", "notes.txt")
both_engines = pytest.mark.parametrize("engine", ["torch", "sparse"])


class Counter:
    """Counts the operations that change files of a folder, and kills at one of them and all later ones."""

    folder = ""  # empty: counts nothing
    count = last = 0
    error: type[BaseException] = Killed
    once = False

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.folder or event not in CHANGES | {"open"}:
            return
        writes = event != "open" or (isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if writes and str(arguments[0]).startswith(self.folder):
            self.step()

    def step(self) -> None:
        self.count += 1
        if self.last and (self.count == self.last if self.once else self.count >= self.last):
            raise self.error(5, "Input/output error")


COUNTER = Counter()
sys.addaudithook(COUNTER.hook)  # cannot be removed again


@contextmanager
def killing(
    folder: Path,
    last: int,
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException] = Killed,
    once: bool = False,
) -> Iterator[Counter]:
    """Operations before `last` (0: all of them) are done. Synchronising counts, too, and leaves half a file.

    `error`: what that operation raises, and all later ones, unless `once`.
    """
    real = os.fsync

    def synchronise(number: int) -> None:
        if COUNTER.folder and COUNTER.count + 1 == COUNTER.last:
            os.ftruncate(number, os.fstat(number).st_size // 2)
        COUNTER.step()
        real(number)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", synchronise)
        COUNTER.folder, COUNTER.count, COUNTER.last = str(folder), 0, last
        COUNTER.error, COUNTER.once = error, once
        try:
            yield COUNTER
        except (Killed, KeyboardInterrupt, OSError, InputError):
            pass
        finally:
            COUNTER.folder = ""
    gc.collect()  # the lock of a dead process is free


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 0)
    return write_csv(tmp_path / "texts.csv", [(one.text, one.label) for one in reviews(20)])


def train(texts: Path, out: Path, resume: bool = False, overwrite: bool = False, **options: object) -> None:
    config = Config().override({**OPTIONS, "train": str(texts), **options})
    train_run(config, out, resume, overwrite, Silent())


@both_engines
def test_killed_at_every_file_operation(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regard: Regard, engine: str
) -> None:
    with killing(tmp_path / "counted", 0, monkeypatch) as counter:
        train(texts, tmp_path / "counted", engine=engine)
    assert counter.count > 30
    for last in range(1, counter.count + 1):
        out = tmp_path / f"killed {last}"
        with killing(out, last, monkeypatch):
            train(texts, out, engine=engine)
        if last % 5 == 0:
            shutil.copytree(out, tmp_path / "overwritten")
            train(texts, tmp_path / "overwritten", overwrite=True, engine=engine)
            assert_same_run(tmp_path / "overwritten", tmp_path / "counted")
            shutil.rmtree(tmp_path / "overwritten")
        train(texts, out, resume=True, engine=engine)
        assert_same_run(out, tmp_path / "counted")
        shutil.rmtree(out)


def add_files(run: Path) -> None:
    """What other commands and people write into the folder of a run."""
    (run / "report.html").write_text("<html>")
    (run / "notes.txt").write_text("mine")
    (run / "audit").mkdir()
    (run / "audit" / "audit.json").write_text("{}")


def states(texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regard: Regard, **plan: Any) -> Iterator[Path]:
    """The folder of a run while another run replaces it, killed at each of its file operations."""
    old = tmp_path / "old"
    train(texts, old, seed=5, record="epoch", pairs=False, members=1)
    add_files(old)
    last = 0
    while True:
        last += 1
        out = tmp_path / f"killed {last}"
        shutil.copytree(old, out)
        with killing(out, last, monkeypatch) as counter:
            train(texts, out, overwrite=True)
        if counter.count < last:
            return
        yield out
        shutil.rmtree(out)


def test_a_run_that_is_overwritten_is_never_a_mixture(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regard: Regard
) -> None:
    monkeypatch.setattr(fit_sparse, "SAVED_EVERY", 1000)
    train(texts, tmp_path / "new")
    answers = set()
    for out in states(texts, tmp_path, monkeypatch, regard):
        result = regard("predict", out, "good film", "--format", "jsonl")
        if result.code:
            assert "its training has not finished; resume it" in result.error
        answers.add(result.out)
        train(texts, out, resume=False, overwrite=True)
        assert weights(out) == weights(tmp_path / "new")
    assert len(answers - {""}) == 2, "those of the old run and of the new one"


@pytest.mark.slow
def test_continuing_in_place_loses_nothing(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, regard: Regard
) -> None:
    """The old run is gone once files are replaced: the new one, which was complete before, takes its place."""
    old, more = tmp_path / "old", write_csv(tmp_path / "more.csv", [(one.text, one.label) for one in reviews(10)])
    train(texts, old)
    add_files(old)
    last, before = 0, weights(old)
    while True:
        last += 1
        out = tmp_path / "run"
        shutil.copytree(old, out)
        with killing(out, last, monkeypatch) as counter:
            config, origin = start_from(str(out), None, {"train": str(more)}, Silent())
            train_run(config, out, False, True, Silent(), plan=Plan(origin=origin))
        if counter.count < last:
            break
        start_from(str(out), None, {"train": str(more)}, Silent())  # either of the two is complete, or completed
        assert regard("predict", out, "good film").code == 0
        shutil.rmtree(out)
    assert weights(out) != before
    assert last > 20


@pytest.mark.parametrize(
    ("error", "engine", "once"),
    [
        (KeyboardInterrupt, "sparse", False),
        pytest.param(OSError, "sparse", False, marks=pytest.mark.slow),
        pytest.param(KeyboardInterrupt, "torch", True, marks=pytest.mark.slow),
        pytest.param(OSError, "torch", True, marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_and_full_disks_at_every_file_operation(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], engine: str, once: bool
) -> None:
    """A run that replaces another in place is never lost: one of the two is complete, or is completed by the next command."""
    out, new, old = tmp_path / "run", tmp_path / "new", tmp_path / "old"
    train(texts, new, engine=engine)
    train(texts, old, engine=engine, seed=5)
    add_files(old)
    trained, answers, last = load(new), {weights(new), weights(old)}, 0
    while True:
        last += 1
        shutil.copytree(old, out)
        with killing(out, last, monkeypatch, error, once) as counter:
            save(trained, out)
        if counter.count < last:
            break
        check_claim(out, True, False, None)
        assert not files.temporary_files(out)
        load(out)
        assert weights(out) in answers
        assert (out / "notes.txt").exists()
        shutil.rmtree(out)
    assert last > 15
    assert weights(out) == weights(new)


def test_ctrl_c_waits_until_all_files_have_their_names(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(texts, tmp_path / "run")
    real = os.replace

    def interrupted(source: Path, target: Path) -> None:
        signal.raise_signal(signal.SIGINT)
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            save(load(tmp_path / "run"), tmp_path / "saved")
    assert weights(tmp_path / "saved") == weights(tmp_path / "run")
    load(tmp_path / "saved")
    assert not files.temporary_files(tmp_path / "saved")


@pytest.mark.parametrize(
    "error", [Killed, *(pytest.param(one, marks=pytest.mark.slow) for one in (KeyboardInterrupt, OSError))]
)
def test_an_interrupted_export_is_repeated(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    pytest.importorskip("onnx")
    train(texts, tmp_path / "run")
    (tmp_path / "export").mkdir()
    contents = {name: name.encode() for name in (MANIFEST, "README.md", GRAPH, "tokenizer.json", FACTS)}
    files.write_all(tmp_path / "export", contents)
    last, out = 0, tmp_path / "out"
    while True:
        last += 1
        shutil.copytree(tmp_path / "export", out)
        with killing(out, last, monkeypatch, error) as counter:
            files.write_all(out, contents, [TABLES])
        if counter.count < last:
            break
        check_folder(out)
        shutil.rmtree(out)
    assert last > 15


def test_a_folder_of_something_else_is_not_a_killed_run(texts: Path, tmp_path: Path, regard: Regard) -> None:
    for names in (("README.md",), ("config.toml",), ("config.toml", ".config.toml.partial", "notes.txt"), NOTES):
        folder = tmp_path / "-".join(names)
        folder.mkdir()
        for name in names:
            (folder / name).write_text("mine")
        for option in ("--resume", "--overwrite"):
            assert "is not a run of regard" in regard("train", texts, *TINY, "--out", folder, option).error
        assert sorted(os.listdir(folder)) == sorted(names)


def test_the_state_that_neither_resumed_nor_was_overwritten(texts: Path, tmp_path: Path) -> None:
    train(texts, tmp_path / "run")
    expected = weights(tmp_path / "run")
    for option in ("resume", "overwrite"):
        out = tmp_path / option
        out.mkdir()
        (out / "config.toml").write_bytes((tmp_path / "run" / "config.toml").read_bytes())
        (out / ".tokenizer.json.partial").write_text("{")  # as earlier versions named it
        train(texts, out, **{option: True})  # type: ignore[arg-type]
        assert weights(out) == expected
        assert not files.temporary_files(out)


PROGRAM = """
import os, signal, sys
from regard.cli import main
from regard.training import fit_sparse

fit_sparse.SAVED_EVERY = 0
folder, last = sys.argv[1], int(sys.argv[2])
count = 0

def step():
    global count
    count += 1
    if count == last:
        os.kill(os.getpid(), signal.SIGKILL)

def hook(event, arguments):
    changes = event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir")
    writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
    if (changes or writes) and str(arguments[0]).startswith(folder):
        step()

sys.addaudithook(hook)
code = main(sys.argv[3:])
print(count)
sys.exit(code)
"""


@pytest.mark.slow
@both_engines
def test_sigkill_at_every_file_operation(texts: Path, tmp_path: Path, engine: str) -> None:
    options = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items() if name != "pairs"]
    command = ["train", str(texts), *options, "--engine", engine]

    def run(out: Path, last: int, *more: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", PROGRAM, str(out), str(last), *command, "--out", str(out), *more]
        return subprocess.run(words, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True)

    count = int(run(tmp_path / "unbroken", 0).stdout.splitlines()[-1])
    for last in range(1, count + 1):
        out = tmp_path / f"killed {last}"
        assert run(out, last).returncode == -signal.SIGKILL
        done = run(out, 0, "--resume")
        assert done.returncode == 0, done.stderr
        assert_same_run(out, tmp_path / "unbroken")
