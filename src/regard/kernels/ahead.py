"""Compile beside the reading: a second process compiles the kernels of a command in the order in which they are needed last.

    python -m regard.kernels.ahead train        compiles all of them, for example when an image is built

numba compiles on one core, and Python's lock keeps a second thread from helping. So on the first run of a machine a helper
process starts while the file is read. Either process claims a kernel before it compiles it, by creating a file in a private
folder; the other then leaves it alone, or waits until it is stored and loads it. Without a second core there is no helper, and
if one fails, everything is compiled as if there were none.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from numba import types

from regard.kernels import compiling

LONGEST_WAIT = 60.0  # seconds for one kernel, which takes at most 5 to compile on an idle core
POLL = 0.02
FEW = 3  # kernels for which no process is started

_types: Any = types  # numba has no types
boolean, int64, uint64, float64 = _types.boolean, _types.int64, _types.uint64, _types.float64
bytes1, counts1, ids1, ints1, keys1 = (kind[::1] for kind in (_types.uint8, _types.uint16, _types.int32, int64, uint64))
ints2, floats1, doubles1 = int64[:, ::1], _types.float32[::1], float64[::1]
floats2, floats3, doubles2 = _types.float32[:, ::1], _types.float32[:, :, ::1], float64[:, ::1]


class Kernel(NamedTuple):
    module: str
    name: str
    arguments: tuple[Any, ...]

    @property
    def function(self) -> Any:
        return getattr(import_module(f"regard.kernels.{self.module}"), self.name)


def _workspace() -> Any:
    from regard.kernels.sparse_steps import Workspace

    one = (ids1, ids1, floats1, floats1, floats2, floats1, floats2, floats1)
    return _types.NamedTuple((*one, ints1, floats2, floats2, floats2, floats1, doubles1), Workspace)


def _weights() -> Any:
    from regard.kernels.sparse_steps import Weights

    return _types.NamedTuple((floats2, floats1, floats2, floats1), Weights)


def _train() -> list[Kernel]:
    """What a training run without options uses; the last that it needs come first, but for the one that takes longest."""
    texts = (ids1, counts1, ints1, floats2, floats1, ints1, ints1, doubles1, float64, uint64, int64, ints1)
    step = (*texts, _weights(), _weights(), boolean, float64, int64, float64, int64, _workspace(), _weights())
    sparse, table = (ids1, doubles1, ints1, doubles2), (ids1, ids1, keys1, ints1, ints1, bytes1, int64)
    return [
        Kernel("sparse_steps", "train_batches", step),
        Kernel("attention", "attend", (ids1, ints1, floats2, floats3, floats1, floats2, floats1)),
        Kernel(
            "attention",
            "attend_vectors",
            (ids1, counts1, ints1, floats2, floats1, float64, floats2, floats1, floats2, floats1),
        ),
        Kernel("sparse_matrix", "product", sparse),
        Kernel("sparse_matrix", "transposed_product", (*sparse, int64)),
        Kernel("units", "_distinct", (ids1, ints1, ints1, ids1, counts1, ints1)),
        Kernel("units", "_find", (ids1, ids1, ints1, ints1, ids1, ids1, ids1, ids1, ints1)),
        Kernel("pairs", "_insert", (ints1, ids1, ints1, ids1)),
        Kernel("pairs", "_count", (ints1, ints1, ints1, int64, ints1, ids1, int64)),
        Kernel("pairs", "_distribute", (ids1, ints1, ints1, ints2)),
        Kernel("dictionary", "_rebuild", (ids1, keys1, int64)),
        Kernel("dictionary", "_find_ids", (bytes1, ints1, ints1, int64, boolean, int64, *table)),
        Kernel("scanner", "scan", (bytes1, ints1, boolean, ints1, ints1, ints1)),
    ]


COMMANDS: dict[str, Callable[[], list[Kernel]]] = {"train": _train}


class Helper:
    """The process, and the folder in which both claim kernels."""

    def __init__(self, command: str, note: Callable[[str], None]) -> None:
        self.note, self.noted = note, False
        self.folder = tempfile.TemporaryDirectory(prefix="regard-claims-")
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)  # where this process finds its modules
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "regard.kernels.ahead", command, self.folder.name],
                stdin=subprocess.PIPE,  # closed when this process ends, however that happens
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": paths},
            )
        except BaseException:
            self.folder.cleanup()
            raise

    def wait_for(self, kernel: str) -> bool:
        """Claim a kernel, or wait until the helper has stored it. Returns whether it has."""
        if claim(Path(self.folder.name), kernel):
            return False
        done, begin = Path(self.folder.name) / f"{kernel}.done", time.monotonic()
        while not done.exists():
            waited = time.monotonic() - begin
            if self.process.poll() is not None or waited > LONGEST_WAIT:
                return done.exists()
            if waited > 1 and not self.noted:
                self.noted = True
                self.note("waiting for the rest of the fast engine, which another process compiles")
            time.sleep(POLL)
        return True

    def close(self) -> None:
        compiling.elsewhere.clear()
        atexit.unregister(self.close)
        self.process.kill()
        with self.process:  # closes its pipe and waits for it
            pass
        self.folder.cleanup()


def start(command: str, note: Callable[[str], None]) -> Helper | None:
    """Start to compile what is not stored yet; None if little is missing, or if there can be no helper."""
    missing = [kernel for kernel in COMMANDS[command]() if not compiling.is_compiled(kernel.function)]
    if len(missing) <= FEW or compiling.elsewhere or cores() < 2 or not sys.executable or getattr(sys, "frozen", False):
        return None
    try:
        helper = Helper(command, note)
    except OSError:
        return None
    compiling.elsewhere.append(helper.wait_for)
    atexit.register(helper.close)
    return helper


def cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1  # elsewhere unknown


def claim(folder: Path, kernel: str) -> bool:
    """Whether this process is the first to claim a kernel; also if the folder is gone, so that nobody waits for it."""
    try:
        (folder / kernel).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        pass
    return True


def compile_all(command: str, folder: Path | None = None) -> None:
    for kernel in COMMANDS[command]():
        function = kernel.function
        name = compiling.name_of(function)
        if folder is None or claim(folder, name):
            function.compile(kernel.arguments)
            if folder is not None:
                (folder / f"{name}.done").touch()


def main(arguments: list[str]) -> None:
    command, *rest = arguments
    if rest:
        Thread(target=_end_with_input, daemon=True).start()
    compile_all(command, Path(rest[0]) if rest else None)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
