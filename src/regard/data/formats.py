"""File formats to rows: JSON lines, JSON, plain text with one text per line, and folders of texts.

CSV and TSV are read in `delimited`, Parquet in `parquet`, spreadsheets in `sheets`.

Every reader returns a function that yields the rows from the first on, each time it is called. A row that cannot be
parsed is not an error here: it carries its problem, and the caller raises an error or skips it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from regard.data.decoding import LONGEST_LINE, Text, decoded, lines, split_lines, too_long, whole_lines, whole_text
from regard.data.nesting import TOO_DEEP, is_too_deep
from regard.errors import InputError

_NESTING = frozenset((list, dict))
_parse_json = json.JSONDecoder().raw_decode  # `json.loads` takes twice as long for a short line
_parse_lines = msgspec.json.Decoder().decode_lines


class Row(NamedTuple):
    number: int
    place: str | int | None  # a description, or the line in the file; None if the number is enough
    fields: Mapping[str, object]
    problem: str | None = None  # why there are no fields

    def where(self) -> str:
        """For error messages; built on demand, because few rows are ever named."""
        if isinstance(self.place, str):
            return self.place
        return f"row {self.number}" if self.place is None else f"row {self.number} (line {self.place})"


Rows = Callable[[], Generator[Row, None, None]]  # from the first on at every call


def shown(value: object) -> str:
    """A field's value for an error message: its type and how it begins."""
    kinds = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "a truth value",
        int: "a number",
        float: "a number",
    }
    if value is None:
        return "null"
    kind = kinds.get(type(value), f"a {type(value).__name__}")
    return f"{kind} ({json.dumps(value, default=str)[:40]})"


def repeated(columns: Sequence[str]) -> list[str]:
    """The names that several columns have; in linear time, because a file may have very many columns."""
    counts = Counter(columns)
    return [column for column in columns if column and counts[column] > 1]


def jsonl_rows(text: Text, name: str) -> Rows:
    return partial(_json_lines, text, name)


def json_rows(text: Text, name: str) -> Rows:
    """The whole file is parsed at once, as it is a single value."""
    try:
        values = json.loads(whole_text(text, name))
    except InputError:
        raise
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"{name}: is not JSON ({problem}); expected a list of objects, or the extension .jsonl for one object per line"
        ) from None
    if not isinstance(values, list):
        if is_too_deep(values):
            raise InputError(f"{name}: expected a list of objects, got lists or objects {TOO_DEEP}")
        raise InputError(f'{name}: expected a list of objects such as {{"text": …, "label": …}}, got {shown(values)}')
    return partial(_json_items, values)


def starts_with_object(text: Text, name: str) -> bool:
    first = next((line for line in lines(text(), name) if line.strip()), "").lstrip()
    try:
        return first.startswith("{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _json_lines(text: Text, name: str) -> Generator[Row, None, None]:
    number = line_number = 0
    for block in whole_lines(text(), name):
        if values := _ordinary_objects(block):
            for index, value in enumerate(values, 1):
                yield Row(number + index, line_number + index, value)
            number += len(values)
            line_number += len(values)
            continue
        for line in split_lines(block):
            line_number += 1
            stripped = line.strip(" \t\r\n")
            if not stripped or stripped.isspace():
                continue
            number += 1
            try:
                parsed, end = _parse_json(stripped)
            except (ValueError, RecursionError):
                end = 0
            if end == len(stripped):
                yield _object_row(number, line_number, parsed)
            else:
                yield _odd_json_row(number, line_number, line)


def _ordinary_objects(block: str) -> list[dict[str, object]]:
    """The objects of complete lines, all parsed at once; none if any line is unusual, also in its white space.

    A line feed between two braces is not inside a value. So if every line feed is, and there are as many objects as lines, each
    line is one object. The rest is left to the standard parser, whose errors name the line.
    """
    count = block.count("\n") + (not block.endswith("\n"))
    if "\r" in block or block.count("}\n{") != count - 1:
        return []
    try:
        values: list[dict[str, object]] = _parse_lines(block)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []
    if len(values) != count or any(type(value) is not dict for value in values):
        return []
    nested = (value for value in values if not _NESTING.isdisjoint(map(type, value.values())))
    return [] if any(map(is_too_deep, nested)) else values


def _odd_json_row(number: int, line_number: int, line: str) -> Row:
    """Parse again what the fast parser rejected, for the standard parser's error message."""
    try:
        return _object_row(number, line_number, json.loads(line))
    except (ValueError, RecursionError) as problem:
        message = f"expected one JSON object per line, got {line.strip()[:40]!r}, which is not JSON ({problem})"
        return Row(number, line_number, {}, message)


def _json_items(values: Sequence[object]) -> Generator[Row, None, None]:
    for number, value in enumerate(values, 1):
        yield _object_row(number, None, value)


def _object_row(number: int, place: int | None, value: object) -> Row:
    if isinstance(value, dict):
        # most rows have no lists and no objects in them
        if not _NESTING.isdisjoint(map(type, value.values())) and is_too_deep(value):
            return Row(number, place, {}, f"expected texts and labels, got lists or objects {TOO_DEEP}")
        return Row(number, place, value)
    if is_too_deep(value):
        return Row(number, place, {}, f"expected a JSON object, got lists or objects {TOO_DEEP}")
    return Row(number, place, {}, f'expected a JSON object such as {{"text": …, "label": …}}, got {shown(value)}')


def line_rows(text: Text, name: str) -> Rows:
    """One text per line; blank lines are not rows but are counted, so that a row's number is its line number."""
    return partial(_text_lines, text, name)


def _text_lines(text: Text, name: str) -> Generator[Row, None, None]:
    for number, line in enumerate(lines(text(), name), 1):
        if stripped := line.strip():
            yield Row(number, f"line {number}", {"text": stripped})


def folder_rows(folder: Path, lenient: bool, encoding: str | None = None) -> Rows:
    """One text per file, labelled with the name of its folder."""
    classes = [entry for entry in _entries(folder) if entry.is_dir() and not entry.name.startswith(".")]
    texts = (file for label in classes for file in _entries(label) if file.name.endswith((".txt", ".txt.gz")))
    files = sorted(map(Path, texts))
    if not files:
        raise InputError(f"{folder}: expected one folder of .txt files per class, found no file CLASS/NAME.txt")
    return partial(_text_files, folder, files, lenient, encoding)


def _entries(folder: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    """The content of a folder. (A glob silently skips a folder that may not be read: a class would be missing.)"""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as problem:
        raise InputError(f"{os.fspath(folder)}: the folder cannot be read ({problem.strerror})") from None


def _text_files(folder: Path, files: Sequence[Path], lenient: bool, encoding: str | None) -> Generator[Row, None, None]:
    for number, file in enumerate(files, 1):
        place = f"file {file.relative_to(folder)}"
        pieces, size = [], 0
        for piece in decoded(file, str(file), lenient, encoding):
            pieces.append(piece)
            size += len(piece)
            if size > LONGEST_LINE:
                break
        if size > LONGEST_LINE:
            yield Row(number, place, {}, too_long("a text"))
        else:
            yield Row(number, place, {"text": "".join(pieces), "folder": file.parent.name})
