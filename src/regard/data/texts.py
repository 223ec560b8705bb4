"""Plain text to rows: a text a line, or a text a file in a folder for each class."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regard.data.contents import decoded, unpacked
from regard.data.rows import Row
from regard.errors import InputError


def line_rows(content: str, name: str) -> list[Row]:
    """A text a line; blank lines are no rows, but they are counted, so that a row's number is its line's."""
    del name
    lines = enumerate(content.split("\n"), 1)
    return [Row(number, f"line {number}", {"text": line.strip()}) for number, line in lines if line.strip()]


def folder_rows(folder: Path, lenient: bool) -> Iterator[Row]:
    """A text a file, its label the name of the folder."""
    files = sorted((*folder.glob("*/*.txt"), *folder.glob("*/*.txt.gz")))
    files = [file for file in files if not file.parent.name.startswith(".")]
    if not files:
        raise InputError(
            f"{folder}: no file CLASS/NAME.txt is found in it; a folder of .txt files for each class is expected"
        )
    for number, file in enumerate(files, 1):
        text = decoded(unpacked(file), str(file), lenient)
        yield Row(number, f"file {file.relative_to(folder)}", {"text": text, "folder": file.parent.name})
