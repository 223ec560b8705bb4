"""Objects to rows: JSON lines, a JSON list, and Parquet."""

from __future__ import annotations

import gzip
import importlib
import io
import json
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from regard.data.contents import Source, Text, lines, opened
from regard.data.rows import Row, Rows, shown
from regard.errors import InputError

TOGETHER = 1024  # rows of a Parquet file that are read in one go
_parse = json.JSONDecoder().raw_decode  # `json.loads` takes twice as long over a short line


def jsonl_rows(text: Text, name: str) -> Rows:
    del name
    return partial(_lines, text)


def json_rows(text: Text, name: str) -> Rows:
    """From the whole file, which is a single value."""
    content = "".join(text())
    try:
        values = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"{name}: is no JSON ({problem}); a list of objects is expected, or name it .jsonl for one a line"
        ) from None
    if not isinstance(values, list):
        raise InputError(
            f'{name}: {shown(values)} is found; a list of objects such as {{"text": …, "label": …}} is expected'
        )
    return partial(_items, values)


def parquet_rows(source: Source, name: str) -> Rows:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"{name}: Parquet needs pyarrow, which is not installed: pip install 'regard[parquet]'"
        ) from None
    return partial(_batches, parquet, source, name)


def starts_with_object(text: Text) -> bool:
    first = next((line for line in lines(text()) if line.strip()), "").lstrip()
    try:
        return first.startswith("{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _lines(text: Text) -> Generator[Row, None, None]:
    number = 0
    for line_number, line in enumerate(lines(text()), 1):
        stripped = line.strip(" \t\r\n")
        if not stripped or stripped.isspace():
            continue
        number += 1
        try:
            value, end = _parse(stripped)
        except (ValueError, RecursionError):
            end = 0
        if end == len(stripped):
            yield _object_row(number, line_number, value)
        else:
            yield _json_row(number, line_number, line)


def _json_row(number: int, line_number: int, line: str) -> Row:
    try:
        return _object_row(number, line_number, json.loads(line))
    except (ValueError, RecursionError) as problem:
        found = f"{line.strip()[:40]!r} is no JSON ({problem}); one JSON object a line is expected"
        return Row(number, line_number, {}, found)


def _items(values: Sequence[object]) -> Generator[Row, None, None]:
    for number, value in enumerate(values, 1):
        yield _object_row(number, None, value)


def _object_row(number: int, place: int | None, value: object) -> Row:
    if isinstance(value, dict):
        return Row(number, place, value)
    return Row(
        number, place, {}, f'{shown(value)} is found; a JSON object such as {{"text": …, "label": …}} is expected'
    )


def _batches(parquet: Any, source: Source, name: str) -> Generator[Row, None, None]:
    number = 0
    with opened(source) as file:
        # It is read from its end, and packed bytes cannot be: they are unpacked into memory.
        whole = io.BytesIO(file.read()) if isinstance(file, gzip.GzipFile) else file
        try:
            for batch in parquet.ParquetFile(whole).iter_batches(TOGETHER):
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(number, None, fields)
        except (OSError, ValueError, NotImplementedError) as problem:
            raise InputError(f"{name}: is no whole Parquet file ({str(problem).splitlines()[0]})") from None
