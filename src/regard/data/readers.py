"""Files to examples: CSV, TSV, JSON lines, JSON, Parquet, fastText's lines, lines of text (each also .gz or .zip), or a folder.

`formats` yields rows, `columns` finds text and label, `examples` turns a row into an `Example` or raises. Nothing here
decides the task: labels stay as they are written, except for surrounding white space.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from regard.data.archives import zipped_table
from regard.data.columns import Columns, find_columns, form_of
from regard.data.decoding import Source, Text, decoded, is_blank, unpacked
from regard.data.delimited import csv_rows, tsv_rows
from regard.data.examples import make_example, read_weight
from regard.data.fasttext_lines import fasttext_rows, is_fasttext
from regard.data.formats import (
    Row,
    Rows,
    folder_rows,
    json_rows,
    jsonl_rows,
    line_rows,
    starts_with_object,
)
from regard.data.label_sets import has_lists
from regard.data.parquet import parquet_rows
from regard.data.read_options import ReadOptions
from regard.data.sheets import SHEETS, sheet_rows
from regard.errors import InputError
from regard.records import Example

FORMATS: dict[str, Callable[[Text, str], Rows]] = {
    "csv": csv_rows,
    "tsv": tsv_rows,
    "jsonl": jsonl_rows,
    "ndjson": jsonl_rows,
    "json": json_rows,
    "txt": line_rows,
}
TABLES = ("parquet", *FORMATS, *SHEETS)  # extensions of files that are read
UNEVEN = ("jsonl", "ndjson", "json")  # rows may have different columns
MOSTLY_LISTS = 0.5  # share of lists in the sample from which every label is read as a list of labels
SAMPLE = 200  # rows that the columns are guessed from
LABELLED = ReadOptions()
UNLABELLED = ReadOptions(labelled=False)


class Stream:
    """The examples of a file in its order; every iteration reads it again, and closes it when it ends or is dropped.

    A bad row is an error when it is reached, or is left out; fewer examples than required are an error at the end.
    """

    def __init__(self, path: str, rows: Rows, columns: Columns, options: ReadOptions) -> None:
        self.path = path
        self.text_column = columns.text
        self.label_column = columns.label  # None if no example has a label; several are joined by commas
        self.form = columns.form
        self.guessed = columns.guessed  # sentences for the user
        self.skipped = 0  # bad rows that the last iteration has left out or marked so far
        self.first_skipped = ""  # why the first of them was
        self.weightless = 0  # rows with weight 0 that the last iteration has left out
        self._rows = rows
        self._options = options

    def rows(self) -> Generator[Row, None, None]:
        """All rows with all their fields, as they are in the file; those that cannot be used too."""
        return self._rows()

    def __iter__(self) -> Generator[Example, None, None]:
        name, text, label, options = self.path, self.text_column, self.label_column, self._options
        count = self.skipped = self.weightless = 0
        first: InputError | None = None
        with closing(self._rows()) as rows:
            for row in rows:
                try:
                    example = make_example(row, name, text, label, options.labelled, options.rationales, self.form)
                    if options.weight is not None:
                        example = replace(example, weight=read_weight(row, name, options.weight))
                except InputError as problem:
                    if not options.tolerant:
                        raise InputError(f"{problem} ({options.advice})") from None
                    first = first or problem
                    self.skipped += 1
                    self.first_skipped = str(first)
                    if not options.mark_bad_rows:
                        continue
                    example = Example("", row=row.number, error=str(problem))
                else:
                    if example.weight == 0:
                        self.weightless += 1
                        continue
                    count += 1
                if options.keep:
                    example = replace(example, kept={column: row.fields.get(column) for column in options.keep})
                yield example
        if count < options.required:
            why = "" if first is None else f"; the first of {self.skipped} bad rows: {first}"
            raise InputError(f"{name}: expected at least {_row_count(options.required, 'usable ')}, got {count}{why}")


@dataclass(frozen=True)
class Corpus:
    """The examples of a file in memory; the other fields are those of a `Stream` that was read to its end."""

    path: str
    examples: list[Example]
    text_column: str
    label_column: str | None
    guessed: list[str]
    skipped: int
    first_skipped: str = ""

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)


def report_reading(read: Corpus | Stream, note: Callable[[str], None]) -> None:
    """Pass on what was guessed and what was skipped so far: of a stream that was not read yet, nothing."""
    for sentence in read.guessed:
        note(sentence)
    report_skipped(read, note)


def report_skipped(read: Corpus | Stream, note: Callable[[str], None]) -> None:
    if read.skipped:
        rows = "1 row was" if read.skipped == 1 else f"{read.skipped:,} rows were"
        note(f"{rows} skipped; the first: {read.first_skipped}")
    if isinstance(read, Stream) and read.weightless:
        rows = "1 row has" if read.weightless == 1 else f"{read.weightless:,} rows have"
        note(f"{rows} weight 0: left out")


def read(path: str | Path, options: ReadOptions = LABELLED, **keywords: Any) -> Corpus:
    """Every example of a file or of a folder of classes. Options as keyword arguments are deprecated."""
    if keywords:
        warnings.warn("read: pass ReadOptions(…) instead of keyword arguments", DeprecationWarning, stacklevel=2)
        options = replace(options, **keywords)
    return _corpus(stream(path, options))


def stream(path: str | Path, options: ReadOptions = LABELLED) -> Stream:
    """The same, one example at a time, for files larger than memory.

    Only a JSON list, a spreadsheet, a compressed Parquet file, and input from a pipe are held in memory as a whole.
    """
    path = Path(path)
    name = str(path)
    if path.is_dir():
        return _stream(
            name,
            folder_rows(path, options.tolerant, options.encoding),
            options,
            Columns("text", "folder", [], form_of(options)),
        )
    form = _format(path)
    if form == "zip":
        table = zipped_table(path, TABLES)
        source: Source = table
        form = table.suffix[1:]
    else:
        source = path if path.is_file() else b"".join(unpacked(path))  # a pipe can be read only once
    if form == "parquet":
        return _stream(name, parquet_rows(source, name), options)
    if form in SHEETS:
        return _stream(name, sheet_rows(source, name), options)
    return _from_text(partial(decoded, source, name, options.tolerant, options.encoding), name, form, options)


def read_lines(file: IO[bytes], name: str = "standard input", options: ReadOptions = UNLABELLED) -> Corpus:
    """Every example of an open file: JSON lines if the first is an object, otherwise one text per line."""
    content = partial(decoded, file.read(), name, options.tolerant, options.encoding)
    form = "jsonl" if starts_with_object(content, name) else "txt"
    return _corpus(_from_text(content, name, form, options))


def _format(path: Path) -> str:
    accepted = f"a file ({', '.join(f'.{form}' for form in TABLES)}, each also .gz or in a .zip) or a folder of classes"
    if not path.exists():
        raise InputError(f"{path}: no such file; expected {accepted}")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else (suffixes or [""])[-1]
    if suffix[1:] not in (*TABLES, "zip") or suffixes[-2:] == [".zip", ".gz"]:
        raise InputError(f"{path}: expected {accepted}, got {suffix or 'no extension'}")
    return suffix[1:]


def _from_text(content: Text, name: str, form: str, options: ReadOptions) -> Stream:
    if is_blank(content):
        raise InputError(f"{name}: the file is empty; expected at least {_row_count(options.required)}")
    if form != "txt":
        return _stream(name, FORMATS[form](content, name), options, even=form not in UNEVEN)
    if is_fasttext(content, name):
        return _stream(name, fasttext_rows(content, name), options, Columns("text", "label", [], form_of(options)))
    if options.labelled or options.label is not None:
        raise InputError(
            f"{name}: lines of text have no labels; expected a .csv, .tsv or .jsonl file with a label column, "
            "or lines that begin with __label__"
        )
    return _stream(name, line_rows(content, name), options, Columns("text", None, []))


def _stream(name: str, rows: Rows, options: ReadOptions, columns: Columns | None = None, even: bool = True) -> Stream:
    """`columns` if the format itself determines them; `even` if every row has the same."""
    wanted = {"--keep": next(iter(options.keep), None), "--weight": options.weight}
    for option, column in wanted.items():
        if columns is not None and column is not None:
            raise InputError(f"{name}: no column {column!r} ({option}); lines and folders of text have no columns")
    head = _head(name, rows, options)
    # a stray list is a bad row, but a line of fastText's format may have several labels whatever the others have
    lists = 0.0 if columns is not None else MOSTLY_LISTS
    columns = columns or _columns(name, rows, head, options, even)
    if columns.label is not None and has_lists([row.fields.get(columns.label) for row in head], lists):
        columns = columns._replace(form=columns.form._replace(several=True))
    return Stream(name, rows, columns, options)


def _head(name: str, rows: Rows, options: ReadOptions) -> list[Row]:
    """The first rows that have fields. One without is an error, unless it may be skipped and others are left."""
    head: list[Row] = []
    bad: Row | None = None
    with closing(rows()) as opened:
        for row in opened:
            if row.problem is None:
                head.append(row)
            else:
                bad = bad or row
            if len(head) == SAMPLE or (bad and not options.tolerant):
                break
    if bad and not (head and options.tolerant):
        raise InputError(f"{name}, {bad.where()}: {bad.problem}" + (f" ({options.advice})" if head else ""))
    if not head:
        raise InputError(f"{name}: expected at least one row, got none")
    return head


def _columns(name: str, rows: Rows, head: list[Row], options: ReadOptions, even: bool) -> Columns:
    sample = [row.fields for row in head]
    columns = dict.fromkeys(column for fields in sample for column in fields)
    try:
        return find_columns(name, list(columns), sample, options)
    except InputError:
        if even:
            raise
    # A requested column may first occur further down; if it does not, the error message lists all columns.
    with closing(rows()) as opened:
        for row in opened:
            if row.problem is not None and not options.tolerant:
                raise InputError(f"{name}, {row.where()}: {row.problem} ({options.advice})")
            columns.update(dict.fromkeys(row.fields))
    return find_columns(name, list(columns), sample, options)


def _corpus(examples: Stream) -> Corpus:
    every = list(examples)
    columns = (examples.text_column, examples.label_column)
    return Corpus(examples.path, every, *columns, examples.guessed, examples.skipped, examples.first_skipped)


def _row_count(count: int, kind: str = "") -> str:
    return f"{count} {kind}row{'s' * (count != 1)}"
