"""Results as data: TABLE.jsonl, one line per cell and seed, written when the run ends.

Each line is synced to disk at once, so that a killed process loses at most the line it was writing. Rows whose fingerprint
differs from their cell's (the options were changed since) are ignored but never deleted. One process at a time writes to a
file: it holds a lock that the operating system releases when the process ends."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from regard.errors import InputError
from regard.run_lock import LockFile
from regard_lab.rows import Row, RunKey
from regard_lab.tables.table import Cell, Table

FORM = 1
BINARY = getattr(os, "O_BINARY", 0)  # Windows would otherwise write \r\n for \n
BEGINNING = b'{"form"'  # every line that we write starts with this
REQUIRED: dict[str, type | tuple[type, ...]] = {
    "method": str,
    "corpus": str,
    "setting": str,
    "seed": int,
    "fingerprint": str,
}
REQUIRED |= {"options": dict, "seconds": (int, float)}
OPTIONAL = {"values": dict, "history": dict, "data": dict, "environment": dict, "stacked": int, "predictions": dict}


@dataclass(frozen=True)
class Results:
    """The rows of a file that belong to a table."""

    rows: dict[RunKey, Row]  # the last row of each key
    others: int  # rows of cells that the table does not have, or has with other options
    notes: list[str]  # sentences for the user

    @property
    def good(self) -> list[Row]:
        return [row for row in self.rows.values() if "error" not in row]


def complete(cell: Cell, table: str, device: str, result: Row) -> Row:
    """A complete row from what a kind measured for one seed."""
    method, corpus, setting = cell.key
    measured = result.copy()
    seed, seconds = measured.pop("seed"), measured.pop("seconds", 0.0)
    row: Row = {"form": FORM, "table": table, "method": method, "corpus": corpus, "setting": setting}
    row |= {"seed": seed, "fingerprint": cell.fingerprint, "options": dict(cell.options)}
    return {**row, **measured, "seconds": round(float(seconds), 2), "device": device}


def error_text(error: BaseException) -> str:
    """What a row keeps of an error: one line of limited length."""
    from regard.report.text.characters import one_line

    words = one_line(error)[:500]
    return words if isinstance(error, InputError) else f"{type(error).__name__}: {words}".removesuffix(": ")


def key(row: Row) -> RunKey:
    return row["method"], row["corpus"], row["setting"], row["seed"]


def append(path: Path, row: Row) -> None:
    line = json.dumps(finite(row), ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | BINARY, 0o666)
    try:
        before = os.fstat(handle).st_size
        try:
            write_fully(handle, line)
        except OSError as error:  # a full disk takes part of a line, and the next line would continue it
            os.ftruncate(handle, before)
            raise InputError(
                f"{path}: a result could not be written ({error.strerror or error}); earlier results are kept, and the "
                "same command continues with the rest"
            ) from None
    finally:
        os.close(handle)


def write_fully(handle: int, line: bytes) -> None:
    while line:
        line = line[os.write(handle, line) :]
    os.fsync(handle)


def finite(value: Any) -> Any:
    """Replace NaN and infinity, which JSON does not have, with None."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def repair(path: Path) -> str | None:
    """Remove an incomplete last line (call it under the lock). Returns a sentence for the user, or None."""
    content = path.read_bytes() if path.exists() else b""
    if not content or content.endswith(b"\n"):
        return None
    whole, last = content[: content.rfind(b"\n") + 1], content[content.rfind(b"\n") + 1 :]
    if is_row(last):  # only the end of the line is missing
        with open(path, "ab") as file:
            file.write(b"\n")
        return None
    if not last.startswith(BEGINNING[: len(last)]):
        return None  # not ours: reading reports the error
    os.truncate(path, len(whole))
    return f"{path}: the last line is incomplete because a run was killed; its cell is run again"


def is_row(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def read_rows(path: Path) -> tuple[list[Row], list[str]]:
    """Every row of a file, and notes for the user."""
    if not path.exists():
        return [], []
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    rows, notes = [], []
    lines = content.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if number == len(lines) and not is_row(line) and line.startswith(BEGINNING[: len(line)]):
            notes.append(f"{path}: the last line is incomplete (a run was killed) and is ignored")
            continue
        rows.append(checked(line, f"{path}, line {number}"))
    return rows, notes


def checked(line: bytes, where: str) -> Row:
    advice = "move the file away (or use another --out) and run again"
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{where}: expected a line of JSON; {advice}") from None
    form = row.get("form", 0) if isinstance(row, dict) else None
    if not isinstance(form, int) or form > FORM:
        raise InputError(
            f"{where}: expected a result of form {FORM}, which this version of regard reads, got form {form!r}; {advice}"
        )
    if form < FORM:
        what = f"the older form {form}" if form else "no form, as in older versions"
        raise InputError(f"{where}: expected a result of form {FORM}, got {what}; {advice}")
    kinds = REQUIRED | ({"values": dict} if "error" not in row else {"error": str})
    kinds |= {name: kind for name, kind in OPTIONAL.items() if name in row}
    wrong = [name for name, kind in kinds.items() if not isinstance(row.get(name), kind)]
    if wrong:
        raise InputError(f"{where}: {wrong[0]!r} is missing or has the wrong type; {advice}")
    return cast(Row, row)


def match(table: Table, rows: Iterable[Row], notes: Iterable[str] = (), where: str = "") -> Results:
    """The rows that belong to a table's cells. A failed run never replaces a successful one."""
    fingerprints = {cell.key: cell.fingerprint for cell in table.cells()}
    matching: dict[RunKey, Row] = {}
    others = 0
    for row in rows:
        run = key(row)
        if fingerprints.get(run[:3]) != row["fingerprint"]:
            others += 1
        elif "error" not in row or "error" in matching.get(run, {"error": ""}):
            matching[run] = row
    messages = list(notes)
    if others:
        messages.append(
            f"{where}: {others} rows are outdated (their cells were removed from the table or have other options now); "
            "they are kept but not counted"
        )
    return Results(matching, others, messages)


def read_results(table: Table, *paths: Path) -> Results:
    """The results of a file, or of several together."""
    read = [read_rows(path) for path in paths]
    rows, notes = [row for one, _ in read for row in one], [note for _, one in read for note in one]
    return match(table, rows, notes, str(paths[0]))


class Lock:
    """A lock on a results file, held within `with`; an error if another process holds it.

    What is locked is a file next to it, because Windows does not let others read locked files.
    """

    def __init__(self, results: Path):
        self.results = results

    def __enter__(self) -> Self:
        busy = f"{self.results}: another run is writing to it; wait until it ends, or choose another folder with --out"
        try:
            self.file = LockFile(self.results.with_name(f".{self.results.name}.lock"), busy)
        except OSError as error:
            raise InputError(
                f"{self.results}: cannot be locked ({error.strerror or error}); choose a folder on another disk with --out"
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self.file.release()
