"""Support for tests of the command line: options of tiny models, results of commands, small tables."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

TINY = ("--hidden", "8", "--embedding", "8", "--query", "8", "--epochs", "2", "--device", "cpu")


class CommandResult(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one sentence about bad input; notes may come before it."""
        assert "Traceback" not in self.err
        *notes, last = self.err.splitlines()
        assert last.startswith("regard: "), self.err
        assert not [line for line in notes if line.startswith("regard: ")], self.err
        return last.removeprefix("regard: ")


Regard = Callable[..., CommandResult]


def write_csv(path: Path, rows: Iterable[Sequence[object]], head: Sequence[str] = ("text", "label")) -> Path:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return path
