"""A damaged cache of compiled code, or a full disk, costs time and not the command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.kernels import compiling
from regard.kernels.compiling import TolerantCache, compiled

PROGRAM = """
from regard.kernels.compiling import compiled

@compiled()
def double(x):
    return 2 * x

print(double(21))
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[], subprocess.CompletedProcess[str]]:
    """A function compiled in a process of its own, with its cache in the folder `cache`."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)

    def run() -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        return subprocess.run(
            [sys.executable, script], env=environment, capture_output=True, text=True, check=True, timeout=300
        )

    return run


def test_a_damaged_cache_is_made_again(tmp_path: Path, program: Callable[[], Any]) -> None:
    first = program()
    assert (first.stdout, first.stderr) == ("42\n", "")
    (index,), (code,) = (list((tmp_path / "cache").rglob(f"*.{kind}")) for kind in ("nbi", "nbc"))
    for path, content in ((index, b""), (index, index.read_bytes()[:20]), (code, code.read_bytes()[:-100])):
        path.write_bytes(content)
        again = program()
        assert again.stdout == "42\n"
        assert again.stderr.startswith(f"· the cache of compiled code in {index.parent} is damaged; compiling again (")
        assert again.stderr.count("\n") == 1
    assert program().stderr == "", "it was replaced"


def test_processes_that_compile_at_the_same_time_do_not_mix_up_their_code(tmp_path: Path) -> None:
    """Both read the index before either writes to it, each for its own types."""
    first, second = (compiling.CodeFiles(str(tmp_path), "double-1", "stamp") for _ in range(2))
    first._load_index = second._load_index = dict
    first.save(("int64",), "code for whole numbers")
    second.save(("float64",), "code for fractions")
    read = compiling.CodeFiles(str(tmp_path), "double-1", "stamp")
    assert read.load(("float64",)) == "code for fractions"
    assert read.load(("int64",)) in ("code for whole numbers", None), "None: it is compiled again"


def no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_is_noted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiling.FunctionCache, "_save_overload", no_space)
    monkeypatch.setattr(compiling, "_noted", [])
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    @compiled()
    def triple(x: int) -> int:
        return 3 * x

    assert triple(2) == 6
    assert triple(2.5) == 7.5  # type: ignore[arg-type]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("· compiled code cannot be stored in ")
    assert line.endswith("(OSError: No space left on device)")


def test_without_a_place_for_a_cache(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(compiling, "_noted", [])
    monkeypatch.setattr(TolerantCache, "__init__", no_space)

    @compiled()
    def half(x: float) -> float:
        return x / 2

    assert half(3.0) == 1.5
    assert "compiled code cannot be stored" in capsys.readouterr().err


@pytest.mark.slow
def test_a_command_with_every_index_empty(run: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "regard", "train", str(run.parent / "stars.csv"), "--epochs", "1"]
    for number in range(2):
        done = subprocess.run(
            [*command, "--out", tmp_path / str(number)], env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
        for path in (tmp_path / "cache").rglob("*.nbi"):
            path.write_bytes(b"")
    assert "is damaged; compiling again" in done.stderr
    shutil.rmtree(tmp_path / "cache")


def test_code_of_an_older_source_does_not_count_as_compiled(tmp_path: Path) -> None:
    """A helper process would not be started for it, although everything is compiled again."""
    script = tmp_path / "program.py"
    script.write_text(
        PROGRAM.replace(
            "print(double(21))",
            "from regard.kernels import compiling\nprint(compiling.is_compiled(double), double(21))",
        )
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run() -> str:
        command = [sys.executable, script]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300).stdout

    assert [run(), run()] == ["False 42\n", "True 42\n"]
    script.write_text(script.read_text().replace("2 * x", "3 * x"))
    assert [run(), run()] == ["False 63\n", "True 63\n"]
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    index.write_bytes(b"")
    assert run() == "False 63\n"


STORED = """
import numpy as np
from regard.kernels.compiling import compiled

@compiled()
def doubled(values):
    result = np.empty_like(values)
    for index in range(len(values)):
        result[index] = 2 * values[index]
    return result.copy()
"""
FIRST = """
import sys
import numpy as np
from stored import doubled
print(doubled(np.arange(3)).tolist(), "numba.np.linalg" in sys.modules)
"""
THEN = """
from regard.kernels.compiling import compiled

@compiled()
def halved(values):
    return np.sort(doubled(values))[::-1] / 4

print(halved(np.arange(3)).tolist())
"""


def test_stored_code_is_loaded_without_the_compiler(tmp_path: Path) -> None:
    """It allocates an array, which needs numba's memory management. A new function beside it is compiled as ever."""
    (tmp_path / "stored.py").write_text(STORED)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(source: str) -> list[str]:
        (tmp_path / "program.py").write_text(source)
        command = [sys.executable, tmp_path / "program.py"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
        return done.stdout.splitlines()

    assert run(FIRST) == ["[0, 2, 4] True"]
    assert run(FIRST) == ["[0, 2, 4] False"]
    assert run(FIRST + THEN) == ["[0, 2, 4] False", "[1.0, 0.5, 0.0]"]
