"""Tables to rows: CSV with any of the usual delimiters, and TSV with or without quoting."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator
from typing import Literal

from regard.data.guess import listed
from regard.data.rows import Row
from regard.errors import InputError

DELIMITERS = ",;\t|"


def csv_rows(content: str, name: str) -> list[Row]:
    header = re.sub(r'"[^"]*"', "", content.lstrip("\r\n").split("\n", 1)[0])
    delimiter = max(DELIMITERS, key=header.count)  # the first of them where none occurs
    return _table(_records(content, name, delimiter), name)


def tsv_rows(content: str, name: str) -> list[Row]:
    """Some TSV files quote fields, in others a quotation mark is just a mark: the latter where the former fails."""
    try:
        rows = _table(_records(content, name, "\t"), name)
        if not any(row.problem for row in rows):
            return rows
    except InputError:
        pass
    return _table(_records(content, name, "\t", csv.QUOTE_NONE), name)


def _records(
    content: str, name: str, delimiter: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> Iterator[list[str]]:
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    try:
        yield from (record for record in reader if record)
    except csv.Error as problem:
        raise InputError(
            f"{name}, line {reader.line_num}: {problem}; a field that holds a quotation mark must be quoted"
        ) from None
    finally:
        csv.field_size_limit(before)


def _table(records: Iterator[list[str]], name: str) -> list[Row]:
    columns = [column.strip() for column in next(records, [])]
    twice = [column for index, column in enumerate(columns) if column in columns[:index]]
    if twice:
        raise InputError(
            f"{name}: the first row names column {twice[0]!r} twice; every column must have a name of its own"
        )
    rows = []
    for number, record in enumerate(records, 1):
        found = (
            None
            if len(record) == len(columns)
            else f"{len(record)} fields are found; {len(columns)} are expected, as in the first row"
        )
        rows.append(Row(number, f"row {number}", {} if found else dict(zip(columns, record, strict=True)), found))
    if not rows:
        raise InputError(
            f"{name}: only the row of column names ({listed(columns)}) is found; rows of data are expected below it"
        )
    return rows
