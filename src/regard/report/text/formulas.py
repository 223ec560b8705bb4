"""Cells of a CSV file that a spreadsheet would take for formulas, such as `=cmd|' /C calc'!A0` in a review."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

OPTION = "--escape-formulas"
_STARTS = frozenset("=+-@\t\r")
_FORMULA = re.compile(r"[\t\r]*[=+\-@].*\w", re.DOTALL)


class Formulas:
    """Counts such cells, and escapes them on request: an apostrophe before a cell makes it text."""

    def __init__(self, escape: bool = False) -> None:
        self.escape = escape
        self.count = 0

    def checked(self, row: Sequence[str]) -> Sequence[str]:
        if not any(cell[:1] in _STARTS for cell in row):
            return row
        found = [is_formula(cell) for cell in row]
        self.count += sum(found)
        return [f"'{cell}" if bad else cell for cell, bad in zip(row, found, strict=True)] if self.escape else row

    def cell(self, value: object) -> object:
        """The same for one value, of any type."""
        return self.checked([value])[0] if isinstance(value, str) else value

    def sentence(self) -> str:
        """What was found, or ""."""
        sentences: list[str] = []
        self.report(sentences.append)
        return "".join(sentences)

    def report(self, note: Callable[[str], None]) -> None:
        if self.count:
            cells = "1 cell begins" if self.count == 1 else f"{self.count:,} cells begin"
            done = "' was put before each" if self.escape else f"{OPTION} puts ' before each"
            note(f"{cells} like a formula, which a spreadsheet would run; {done}")


def is_formula(cell: str) -> bool:
    return cell[:1] in _STARTS and _FORMULA.match(cell) is not None and not is_number(cell)


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
