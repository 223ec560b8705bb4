"""The words of the command line: options that must be spelled out, and errors of one sentence."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn


def complain(sentence: str, code: int) -> int:
    from regard.report.progress import printable

    if sys.stderr is not None:  # closed: the exit code must do
        print(f"regard: {printable(sentence)}", file=sys.stderr)
    return code


class Parser(argparse.ArgumentParser):
    def __init__(self, **given: Any):
        super().__init__(**given, allow_abbrev=False)  # --epoch is a slip, not --epochs: options are strict everywhere

    def error(self, message: str) -> NoReturn:
        self.exit(complain(f"{message} (see `{self.prog} --help`)", 2))


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")
