"""Objects to rows: JSON lines, a JSON list, and Parquet."""

from __future__ import annotations

import importlib
import io
import json
from typing import Any

from regard.data.rows import Row, shown
from regard.errors import InputError


def jsonl_rows(content: str, name: str) -> list[Row]:
    del name
    lines = [(line, number) for number, line in enumerate(content.split("\n"), 1) if line.strip()]
    return [_json_row(row, f"row {row} (line {number})", line) for row, (line, number) in enumerate(lines, 1)]


def json_rows(content: str, name: str) -> list[Row]:
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
    return [_object_row(number, f"row {number}", value) for number, value in enumerate(values, 1)]


def parquet_rows(data: bytes, name: str) -> list[Row]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InputError(
            f"{name}: Parquet needs pyarrow, which is not installed: pip install 'regard[parquet]'"
        ) from None
    try:
        values = parquet.read_table(io.BytesIO(data)).to_pylist()
    except (OSError, ValueError, NotImplementedError) as problem:
        raise InputError(f"{name}: is no whole Parquet file ({str(problem).splitlines()[0]})") from None
    return [Row(number, f"row {number}", value) for number, value in enumerate(values, 1)]


def starts_with_object(content: str) -> bool:
    first = content.lstrip().split("\n", 1)[0]
    try:
        return first.startswith("{") and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _json_row(number: int, place: str, line: str) -> Row:
    try:
        return _object_row(number, place, json.loads(line))
    except (ValueError, RecursionError) as problem:
        return Row(
            number, place, {}, f"{line.strip()[:40]!r} is no JSON ({problem}); one JSON object a line is expected"
        )


def _object_row(number: int, place: str, value: object) -> Row:
    if isinstance(value, dict):
        return Row(number, place, value)
    return Row(
        number, place, {}, f'{shown(value)} is found; a JSON object such as {{"text": …, "label": …}} is expected'
    )
