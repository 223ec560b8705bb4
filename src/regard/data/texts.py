"""Plain text to rows: a text a line, or a text a file in a folder for each class."""

from __future__ import annotations

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
    files = sorted((*folder.glob("*/*.txt"), *folder.glob("*/*.txt.gz")))
    files = [file for file in files if not file.parent.name.startswith(".")]
    if not files:
        raise InputError(
            f"{folder}: no file CLASS/NAME.txt is found in it; a folder of .txt files for each class is expected"
        )
    return partial(_files, folder, files, lenient)


def _lines(text: Text) -> Generator[Row, None, None]:
    for number, line in enumerate(lines(text()), 1):
        if stripped := line.strip():
            yield Row(number, f"line {number}", {"text": stripped})


def _files(folder: Path, files: Sequence[Path], lenient: bool) -> Generator[Row, None, None]:
    for number, file in enumerate(files, 1):
        text = "".join(decoded(file, str(file), lenient))
        yield Row(number, f"file {file.relative_to(folder)}", {"text": text, "folder": file.parent.name})
