"""The process that compiles beside the reading: its table is what a training run uses, and nothing depends on it."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from regard.data.reviews import reviews
from regard.kernels import ahead, compiling
from regard.kernels.ahead import Helper, claim, start

PROGRAM = """
import gc, sys
from pathlib import Path
from numba.core.dispatcher import Dispatcher
from regard.config import Config
from regard.kernels import ahead
from regard.recorder import Silent
from regard.runs import train_run

train_run(Config().override({"train": sys.argv[1], "epochs": 1}), Path(sys.argv[2]), False, False, Silent())
planned = {kernel.function: kernel.arguments for kernel in ahead.COMMANDS["train"]()}
for kernel in gc.get_objects():
    if isinstance(kernel, Dispatcher) and kernel.py_func.__module__.startswith("regard."):
        if "no_cpython_wrapper" in kernel.targetoptions:
            continue
        for signature in kernel.signatures:
            if planned.get(kernel) != signature:
                print(kernel.py_func.__qualname__, signature)
"""


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Helper]:
    """One that never compiles anything, and runs until its input ends."""
    idle = tmp_path / "idle"
    idle.write_text("#!/bin/sh\nexec cat\n")
    idle.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(idle))
    helper = Helper("train", lambda sentence: None)
    yield helper
    helper.close()


def test_training_compiles_nothing_but_what_is_in_the_table(tmp_path: Path) -> None:
    with (tmp_path / "reviews.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "label"])
        table.writerows([example.text, example.label] for example in reviews(400, seed=1))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "reviews.csv", tmp_path / "run"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_a_kernel_is_claimed_once(tmp_path: Path) -> None:
    assert [claim(tmp_path, "a"), claim(tmp_path, "a"), claim(tmp_path, "b")] == [True, False, True]
    assert claim(tmp_path / "gone", "a"), "nobody waits for a kernel that no one can claim"


def test_waiting_ends_when_the_kernel_is_stored(helper: Helper) -> None:
    folder = Path(helper.folder.name)
    assert not helper.wait_for("mine")
    (folder / "other").touch()
    (folder / "other.done").touch()
    assert helper.wait_for("other")


def test_waiting_ends_with_the_helper(helper: Helper) -> None:
    (Path(helper.folder.name) / "claimed").touch()
    helper.process.kill()
    assert not helper.wait_for("claimed")


def test_waiting_is_noted_and_ends(helper: Helper, monkeypatch: pytest.MonkeyPatch) -> None:
    notes: list[str] = []
    helper.note = notes.append
    monkeypatch.setattr(ahead, "LONGEST_WAIT", 1.1)
    (Path(helper.folder.name) / "claimed").touch()
    assert not helper.wait_for("claimed")
    assert notes == ["waiting for the rest of the fast engine, which another process compiles"]


def test_no_helper_without_need_or_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "cores", lambda: 2)
    monkeypatch.setattr(compiling, "is_compiled", lambda kernel: True)
    assert start("train", print) is None
    monkeypatch.setattr(compiling, "is_compiled", lambda kernel: False)
    for name, value in (("cores", lambda: 1), ("sys.executable", None), ("sys.executable", "/no/such/python")):
        with monkeypatch.context() as patch:
            patch.setattr(f"regard.kernels.ahead.{name}", value)
            assert start("train", print) is None
            assert not compiling.elsewhere


def test_a_helper_that_fails_leaves_everything_to_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "cores", lambda: 2)
    monkeypatch.setattr(compiling, "is_compiled", lambda kernel: False)
    monkeypatch.setitem(ahead.COMMANDS, "none", ahead.COMMANDS["train"])  # which the helper does not know
    helper = start("none", print)
    assert helper is not None
    assert helper.process.wait(60) != 0
    assert [waits("scan") for waits in compiling.elsewhere] == [False]
    helper.close()
    assert not compiling.elsewhere


def test_what_another_process_has_stored_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    loaded: list[Any] = []

    def answer(name: str) -> bool:
        asked.append(name)
        return True

    monkeypatch.setattr(compiling.TolerantCache, "stored", lambda *signature: loaded.append(signature))
    monkeypatch.setattr(compiling.FunctionCache, "save_overload", lambda *signature: None)
    monkeypatch.setattr(compiling, "elsewhere", [answer])

    @compiling.compiled()
    def double(x: int) -> int:
        return 2 * x

    assert double(4) == 8, "compiled here, because nothing was stored after all"
    assert [name.rpartition(".")[2] for name in asked] == ["double"]
    assert len(loaded) == 2, "before the other process was asked, and after"


def test_the_claims_of_all_kernels_differ() -> None:
    kernels: list[Any] = [kernel.function for kernel in ahead.COMMANDS["train"]()]
    assert len({compiling.name_of(kernel) for kernel in kernels}) == len(kernels)
