"""Tables to rows: CSV with any of the usual delimiters, and TSV with or without quoting."""

from __future__ import annotations

import csv
from collections.abc import Generator, Iterator
from functools import partial
from itertools import islice
from typing import Literal

from regard.data.contents import Text, lines
from regard.data.guess import listed
from regard.data.rows import Row, Rows
from regard.errors import InputError

DELIMITERS = ",;\t|"
LONGEST_FIELD = 2**26  # characters; a quotation mark that is never closed would take the rest of a file into memory
TOGETHER = 256  # records that are parsed in one go


def csv_rows(text: Text, name: str) -> Rows:
    """Delimited by what gives the first row the most fields; by the first of the delimiters where none occurs."""
    return partial(_table, text, name, max(DELIMITERS, key=partial(_fields_of_first, text)))


def tsv_rows(text: Text, name: str) -> Rows:
    """Some TSV files quote fields, in others a quotation mark is just a mark: the latter where the former fails."""
    quoted = partial(_table, text, name, "\t")
    return quoted if _quoting_holds(quoted, text) else partial(_table, text, name, "\t", csv.QUOTE_NONE)


def _fields_of_first(text: Text, delimiter: str) -> int:
    try:
        return len(next(filter(None, csv.reader(lines(text()), delimiter=delimiter, strict=True)), ()))
    except csv.Error:
        return 0


def _quoting_holds(rows: Rows, text: Text) -> bool:
    """Asked of the whole file before its first row is given; without quotation marks there is nothing to ask."""
    if not any('"' in piece for piece in text()):
        return True
    try:
        return all(row.problem is None for row in rows())
    except InputError:
        return False


def _table(
    text: Text, name: str, delimiter: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> Generator[Row, None, None]:
    records = _records(text, name, delimiter, quoting)
    head = next(records, [])
    if delimiter.join(head) == f"sep={delimiter}":  # a line by which Excel tells itself the delimiter
        head = next(records, [])
    columns = [column.strip() for column in head]
    twice = [column for index, column in enumerate(columns) if column and column in columns[:index]]
    if twice:
        raise InputError(
            f"{name}: the first row names column {twice[0]!r} twice; every column must have a name of its own"
        )
    number = 0
    for number, record in enumerate(records, 1):
        if len(record) == len(columns):
            yield Row(number, None, dict(zip(columns, record)))  # noqa: B905 (`strict` takes its time)
        else:
            fields = f"{len(record)} {'field is' if len(record) == 1 else 'fields are'}"
            found = (
                f"{fields} found; {len(columns)} {'is' if len(columns) == 1 else 'are'} expected, as in the first row"
            )
            yield Row(number, None, {}, found)
    if not number:
        raise InputError(
            f"{name}: only the row of column names ({listed(columns)}) is found; rows of data are expected below it"
        )


def _records(text: Text, name: str, delimiter: str, quoting: Literal[0, 3]) -> Iterator[list[str]]:
    reader = csv.reader(lines(text()), delimiter=delimiter, quoting=quoting, strict=True)
    fault: InputError | None = None
    while fault is None:
        found: list[list[str]] = []
        before = csv.field_size_limit(LONGEST_FIELD)  # it is everybody's: put back before anybody else runs
        try:
            for record in islice(reader, TOGETHER):
                found.append(record)
        except csv.Error as problem:
            fault = InputError(
                f"{name}, line {reader.line_num}: {problem}; "
                "a field that holds a quotation mark must be quoted, and the mark doubled"
            )
        except InputError as problem:
            fault = problem
        finally:
            csv.field_size_limit(before)
        if not found and fault is None:
            return
        yield from filter(None, found)
    raise fault
