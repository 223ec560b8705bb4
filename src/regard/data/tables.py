"""Tables to rows: CSV with any of the usual delimiters, and TSV with or without quoting."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Literal

from regard.data.contents import Text, lines
from regard.data.guess import listed
from regard.data.rows import Row, Rows
from regard.errors import InputError

DELIMITERS = ",;\t|"
LONGEST_FIELD = 2**26  # characters; a quotation mark that is never closed would take the rest of a file into memory
TOGETHER = 256  # records that are parsed in one go


def csv_rows(text: Text, name: str) -> Rows:
    first = next((line for line in lines(text()) if line.strip("\r")), "")
    header = re.sub(r'"[^"]*"', "", first.lstrip("\r"))
    delimiter = max(DELIMITERS, key=header.count)  # the first of them where none occurs
    return partial(_table, text, name, delimiter)


def tsv_rows(text: Text, name: str) -> Rows:
    """Some TSV files quote fields, in others a quotation mark is just a mark: the latter where the former fails."""
    quoted = partial(_table, text, name, "\t")
    return quoted if _quoting_holds(quoted, text) else partial(_table, text, name, "\t", csv.QUOTE_NONE)


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
    twice = [column for index, column in enumerate(columns) if column in columns[:index]]
    if twice:
        raise InputError(
            f"{name}: the first row names column {twice[0]!r} twice; every column must have a name of its own"
        )
    number = 0
    for number, record in enumerate(records, 1):
        if len(record) == len(columns):
            yield Row(number, None, dict(zip(columns, record)))  # noqa: B905 (`strict` takes its time)
        else:
            found = f"{len(record)} fields are found; {len(columns)} are expected, as in the first row"
            yield Row(number, None, {}, found)
    if not number:
        raise InputError(
            f"{name}: only the row of column names ({listed(columns)}) is found; rows of data are expected below it"
        )


def _records(text: Text, name: str, delimiter: str, quoting: Literal[0, 3]) -> Iterator[list[str]]:
    reader = csv.reader(_any_lines(text()), delimiter=delimiter, quoting=quoting, strict=True)
    fault: InputError | None = None
    while fault is None:
        found: list[list[str]] = []
        before = csv.field_size_limit(LONGEST_FIELD)  # it is everybody's: put back before anybody else runs
        try:
            for record in islice(reader, TOGETHER):
                found.append(record)
        except csv.Error as problem:
            fault = InputError(
                f"{name}, line {reader.line_num}: {problem}; a field that holds a quotation mark must be quoted"
            )
        except InputError as problem:
            fault = problem
        finally:
            csv.field_size_limit(before)
        if not found and fault is None:
            return
        yield from filter(None, found)
    raise fault


def _any_lines(pieces: Iterable[str]) -> Iterator[str]:
    """Lines with their ends, which are those of any system, as the parser wants them."""
    return chain.from_iterable(io.StringIO(text, newline="") for text in _whole_lines(pieces))


def _whole_lines(pieces: Iterable[str]) -> Iterator[str]:
    held: list[str] = []  # the beginning of a line that goes on in the next piece
    for piece in pieces:
        # a carriage return that comes last may be half of a line's end
        end = max(piece.rfind("\n"), piece.rfind("\r", 0, -1)) + 1
        held.append(piece[:end])
        if end:
            yield "".join(held)
            held = []
        held.append(piece[end:])
    yield "".join(held)
