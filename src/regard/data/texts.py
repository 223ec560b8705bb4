"""Plain text to rows: a text a line, or a text a file in a folder for each class."""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from functools import partial
from pathlib import Path

from regard.data.contents import Text, decoded, lines
from regard.data.rows import Row, Rows
from regard.errors import InputError


def line_rows(text: Text, name: str) -> Rows:
    """A text a line; blank lines are no rows, but they are counted, so that a row's number is its line's."""
    del name
    return partial(_lines, text)


def folder_rows(folder: Path, lenient: bool) -> Rows:
    """A text a file, its label the name of the folder."""
    classes = [entry for entry in entries(folder) if entry.is_dir() and not entry.name.startswith(".")]
    found = (file for own in classes for file in entries(own) if file.name.endswith((".txt", ".txt.gz")))
    files = sorted(map(Path, found))
    if not files:
        raise InputError(
            f"{folder}: no file CLASS/NAME.txt is found in it; a folder of .txt files for each class is expected"
        )
    return partial(_files, folder, files, lenient)


def entries(folder: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    """What a folder holds. (A glob passes over a folder that may not be read: a class would be missing, and nobody told.)"""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError as problem:
        raise InputError(f"{os.fspath(folder)}: the folder cannot be read ({problem.strerror})") from None


def _lines(text: Text) -> Generator[Row, None, None]:
    for number, line in enumerate(lines(text()), 1):
        if stripped := line.strip():
            yield Row(number, f"line {number}", {"text": stripped})


def _files(folder: Path, files: Sequence[Path], lenient: bool) -> Generator[Row, None, None]:
    for number, file in enumerate(files, 1):
        text = "".join(decoded(file, str(file), lenient))
        yield Row(number, f"file {file.relative_to(folder)}", {"text": text, "folder": file.parent.name})
