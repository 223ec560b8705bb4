"""CSV and TSV files to rows."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Literal

from regard.data.decoding import LONGEST_LINE, Text, lines, too_long
from regard.data.formats import Row, Rows, repeated
from regard.errors import InputError, quoted

DELIMITERS = ",;\t|"
LONGEST_FIELD = (
    LONGEST_LINE  # characters; a quotation mark that is never closed would take the rest of a file into memory
)
LONGEST_RECORD = 2 * LONGEST_FIELD
CSV_CHUNK = 256  # records that are parsed in one go
MOST_PASSES = 16  # how often the text behind wrong quotation is read again on average, before a file is refused


def csv_rows(text: Text, name: str) -> Rows:
    """Delimited by what gives the first row the most fields; by the first of the delimiters if none occurs."""
    return partial(_table, text, name, max(DELIMITERS, key=partial(_fields_of_first, text, name)))


def tsv_rows(text: Text, name: str) -> Rows:
    """Some TSV files quote fields, in others a quotation mark is just a character."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if _is_quoted(text, name) else csv.QUOTE_NONE
    return partial(_table, text, name, "\t", quoting)


def _fields_of_first(text: Text, name: str, delimiter: str) -> int:
    try:
        return len(next(filter(None, csv.reader(lines(text(), name), delimiter=delimiter, strict=True)), ()))
    except csv.Error:
        return 0


def _is_quoted(text: Text, name: str) -> bool:
    """Decided by quotation, not by numbers of fields, and for the whole file before the first row is used.

    Quotation is wrong where the parser says so, and where a mark joins lines that are complete rows by themselves. If all is
    right, the file is quoted; also if quotation holds the lines of some row together that would be torn apart without it.
    """
    if not any('"' in piece for piece in text()):
        return True
    wrong = False
    before = csv.field_size_limit(LONGEST_FIELD)  # global, as in `_records`
    try:
        for fields, own_lines, width in _parsed(text, name):
            apart = [line.count("\t") + 1 for line in own_lines]
            if fields == width and len(apart) > 1 and set(apart) != {width}:
                return True
            wrong = wrong or fields is None or (fields != width and len(apart) > 1 and set(apart) == {width})
    except Undecided:
        raise
    except InputError:
        return False
    finally:
        csv.field_size_limit(before)
    return not wrong


class Undecided(InputError):
    """Whether a file is quoted would take too long to find out."""


def _parsed(text: Text, name: str) -> Iterator[tuple[int | None, list[str], int]]:
    """(number of fields, lines, expected number of fields) of each record; None and its first line if it cannot be parsed."""
    rest = _Lines(lines(text(), name))
    width = 0
    while True:
        try:
            for record in csv.reader(rest, delimiter="\t", strict=True):
                width = width or len(record)
                if record:
                    yield len(record), rest.taken, width
                rest.taken.clear()
            return
        except csv.Error:
            yield None, rest.taken[:1], width
            rest.put_back()
            if rest.again > MOST_PASSES * rest.size + LONGEST_FIELD:
                raise Undecided(
                    f"{name}: expected fields that are quoted, or not, got quotation marks that are wrong in very many places; "
                    "quote fields that contain a mark and double it, or write the file as JSON Lines"
                ) from None


class _Lines:
    """Lines that can be put back, because what follows wrong quotation is parsed again."""

    def __init__(self, source: Iterable[str]) -> None:
        self.source, self.waiting = iter(source), deque[str]()
        self.taken: list[str] = []
        self.size = self.again = 0  # characters read once, and again

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.waiting:
            line = self.waiting.popleft()
        else:
            line = next(self.source)
            self.size += len(line)
        self.taken.append(line)
        return line

    def put_back(self) -> None:
        """All but the first of the lines that were taken."""
        back = self.taken[1:]
        self.again += sum(map(len, back))
        self.waiting.extendleft(reversed(back))
        self.taken.clear()


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
            f"{name}: the first row names column {twice[0][:40]!r} twice; expected a different name for every column"
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
    before_chunk = 0  # records
    records: list[list[str]] = []  # of the chunk that is being parsed

    def limited(pieces: Iterator[str]) -> Iterator[str]:
        """A record of very many quoted lines would fill the memory before the parser returns it."""
        size, last = 0, -1
        for piece in pieces:
            parsed = before_chunk + len(records)
            size, last = (size if last == parsed else 0) + len(piece), parsed
            if size > LONGEST_RECORD:
                raise InputError(
                    f"{name}, row {parsed}: {too_long('a row', LONGEST_RECORD)}; is a quotation mark missing?"
                )
            yield piece

    reader = csv.reader(lines(limited(text()), name), delimiter=delimiter, quoting=quoting, strict=True)
    error: InputError | None = None
    while error is None:
        before_chunk += len(records)
        records = []
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
