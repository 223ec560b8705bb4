"""File formats to rows: CSV, TSV, JSON lines, JSON, Parquet, plain text with one text per line, and folders of texts.

Every reader returns a function that yields the rows from the first on, each time it is called. A row that cannot be
parsed is not an error here: it carries its problem, and the caller raises an error or skips it.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

from regard.data.archives import Zipped
from regard.data.decoding import Source, Text, decoded, lines, opened
from regard.errors import InputError, quoted
from regard.extras import import_extra

DELIMITERS = ",;\t|"
LONGEST_FIELD = 2**26  # characters; a quotation mark that is never closed would take the rest of a file into memory
CSV_CHUNK = 256  # records that are parsed in one go
PARQUET_CHUNK = 1024  # rows that are read in one go
_parse_json = json.JSONDecoder().raw_decode  # `json.loads` takes twice as long for a short line


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


def csv_rows(text: Text, name: str) -> Rows:
    """Delimited by what gives the first row the most fields; by the first of the delimiters if none occurs."""
    return partial(_table, text, name, max(DELIMITERS, key=partial(_fields_of_first, text)))


def tsv_rows(text: Text, name: str) -> Rows:
    """Some TSV files quote fields, in others a quotation mark is just a character: the latter if the former fails."""
    quoted = partial(_table, text, name, "\t")
    return quoted if _quoting_holds(quoted, text) else partial(_table, text, name, "\t", csv.QUOTE_NONE)


def _fields_of_first(text: Text, delimiter: str) -> int:
    try:
        return len(next(filter(None, csv.reader(lines(text()), delimiter=delimiter, strict=True)), ()))
    except csv.Error:
        return 0


def _quoting_holds(rows: Rows, text: Text) -> bool:
    """Checked for the whole file before the first row is used; without quotation marks there is nothing to check."""
    if not any('"' in piece for piece in text()):
        return True
    try:
        return all(row.problem is None for row in rows())
    except InputError:
        return False


def repeated(columns: Sequence[str]) -> list[str]:
    """The names that several columns have; in linear time, because a file may have very many columns."""
    counts = Counter(columns)
    return [column for column in columns if column and counts[column] > 1]


def _table(
    text: Text, name: str, delimiter: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> Generator[Row, None, None]:
    records = _records(text, name, delimiter, quoting)
    head = next(records, [])
    if delimiter.join(head) == f"sep={delimiter}":  # a line in which Excel declares the delimiter
        head = next(records, [])
    columns = [column.strip() for column in head]
    if twice := repeated(columns):
        raise InputError(
            f"{name}: the first row names column {twice[0]!r} twice; expected a different name for every column"
        )
    number = 0
    for number, record in enumerate(records, 1):
        if len(record) == len(columns):
            yield Row(number, None, dict(zip(columns, record)))  # noqa: B905 (`strict` is slower)
        else:
            plural = "s" * (len(columns) != 1)
            problem = f"expected {len(columns)} field{plural}, as in the first row, got {len(record)}"
            yield Row(number, None, {}, problem)
    if not number:
        raise InputError(f"{name}: expected rows of data, got only the header row ({quoted(columns)})")


def _records(text: Text, name: str, delimiter: str, quoting: Literal[0, 3]) -> Iterator[list[str]]:
    reader = csv.reader(lines(text()), delimiter=delimiter, quoting=quoting, strict=True)
    error: InputError | None = None
    while error is None:
        records: list[list[str]] = []
        before = csv.field_size_limit(LONGEST_FIELD)  # the limit is global: restored before other code runs
        try:
            for record in islice(reader, CSV_CHUNK):
                records.append(record)
        except csv.Error as problem:
            error = InputError(
                f"{name}, line {reader.line_num}: {problem}; "
                "quote a field that contains a quotation mark, and double the mark"
            )
        except InputError as problem:
            error = problem
        finally:
            csv.field_size_limit(before)
        if not records and error is None:
            return
        yield from filter(None, records)
    raise error


def jsonl_rows(text: Text, name: str) -> Rows:
    del name
    return partial(_json_lines, text)


def json_rows(text: Text, name: str) -> Rows:
    """The whole file is parsed at once, as it is a single value."""
    content = "".join(text())
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"{name}: is not JSON ({problem}); expected a list of objects, or the extension .jsonl for one object per line"
        ) from None
    if not isinstance(values, list):
        raise InputError(f'{name}: expected a list of objects such as {{"text": …, "label": …}}, got {shown(values)}')
    return partial(_json_items, values)


def starts_with_object(text: Text) -> bool:
    first = next((line for line in lines(text()) if line.strip()), "").lstrip()
    try:
        return first.startswith("{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _json_lines(text: Text) -> Generator[Row, None, None]:
    number = 0
    for line_number, line in enumerate(lines(text()), 1):
        stripped = line.strip(" \t\r\n")
        if not stripped or stripped.isspace():
            continue
        number += 1
        try:
            value, end = _parse_json(stripped)
        except (ValueError, RecursionError):
            end = 0
        if end == len(stripped):
            yield _object_row(number, line_number, value)
        else:
            yield _odd_json_row(number, line_number, line)


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
        return Row(number, place, value)
    return Row(number, place, {}, f'expected a JSON object such as {{"text": …, "label": …}}, got {shown(value)}')


def parquet_rows(source: Source, name: str) -> Rows:
    parquet = import_extra("pyarrow.parquet", f"{name}: Parquet")
    return partial(_parquet_batches, parquet, source, name)


def _parquet_batches(parquet: Any, source: Source, name: str) -> Generator[Row, None, None]:
    number = 0
    with opened(source) as file:
        # Parquet is read from its end, which gzip and zip do not allow: such a file is unpacked into memory.
        packed = isinstance(file, gzip.GzipFile) or isinstance(source, Zipped)
        whole = io.BytesIO(file.read()) if packed else file
        try:
            for batch in parquet.ParquetFile(whole).iter_batches(PARQUET_CHUNK):
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(number, None, fields)
        except (OSError, ValueError, NotImplementedError) as problem:
            raise InputError(f"{name}: is not a complete Parquet file ({str(problem).splitlines()[0]})") from None


def line_rows(text: Text, name: str) -> Rows:
    """One text per line; blank lines are not rows but are counted, so that a row's number is its line number."""
    del name
    return partial(_text_lines, text)


def _text_lines(text: Text) -> Generator[Row, None, None]:
    for number, line in enumerate(lines(text()), 1):
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
        text = "".join(decoded(file, str(file), lenient, encoding))
        yield Row(number, f"file {file.relative_to(folder)}", {"text": text, "folder": file.parent.name})
