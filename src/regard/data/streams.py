"""Rows to a stream of examples: the columns are known at once, a row is read when its example is asked for."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass, replace

from regard.data.columns import Columns, Known, find_columns
from regard.data.examples import make_example
from regard.data.rationales import Rationales
from regard.data.rows import Row, Rows
from regard.errors import InputError
from regard.records import Example

SAMPLE = 200  # rows that the columns are guessed from


@dataclass(frozen=True)
class Wish:
    """What the caller asked for."""

    text: str | None
    label: str | None
    labelled: bool
    skip_bad_rows: bool
    at_least: int
    rationales: Rationales | None = None
    known: Known = (None, None)
    keep: tuple[str, ...] = ()  # other columns that go along


class Stream:
    """The examples of a file in its order; every iteration reads it anew, and closes it when it ends or is dropped.

    A bad row is an error when it is reached, or is left out, and fewer examples than wished for are one at the end.
    """

    def __init__(self, path: str, rows: Rows, columns: Columns, wish: Wish) -> None:
        self.path = path
        self.text_column = columns.text
        self.label_column = columns.label  # None where no example has a label
        self.guessed = columns.guessed  # sentences for the user
        self.skipped = 0  # rows that the last iteration has left out so far
        self.first_skipped = ""  # why the first of them was
        self._rows = rows
        self._wish = wish

    def __iter__(self) -> Generator[Example, None, None]:
        name, text, label, wish = self.path, self.text_column, self.label_column, self._wish
        count = self.skipped = 0
        first: InputError | None = None
        with closing(self._rows()) as rows:
            for row in rows:
                try:
                    example = make_example(row, name, text, label, wish.labelled, wish.rationales)
                except InputError as problem:
                    if not wish.skip_bad_rows:
                        raise InputError(f"{problem} (--skip-bad-rows leaves such rows out)") from None
                    first = first or problem
                    self.skipped += 1
                    self.first_skipped = str(first)
                else:
                    count += 1
                    if wish.keep:
                        example = replace(example, kept={column: row.fields.get(column) for column in wish.keep})
                    yield example
        if count < wish.at_least:
            why = "" if first is None else f"; the first of {self.skipped} bad rows: {first}"
            raise InputError(
                f"{name}: {row_count(count, 'usable ')} found; at least {row_count(wish.at_least)} expected{why}"
            )


def make_stream(name: str, rows: Rows, wish: Wish, columns: Columns | None = None, alike: bool = True) -> Stream:
    """`columns` where the format itself sets them; `alike` where every row has the same."""
    if columns is not None and wish.keep:
        raise InputError(f"{name}: there is no column {wish.keep[0]!r} (--keep); lines and folders of text have none")
    head = _head(name, rows, wish)
    return Stream(name, rows, columns or _columns(name, rows, head, wish, alike), wish)


def row_count(count: int, kind: str = "") -> str:
    return f"{count} {kind}{'row is' if count == 1 else 'rows are'}"


def _head(name: str, rows: Rows, wish: Wish) -> list[Row]:
    """The first rows that have fields. One without is an error, unless it may be skipped and others are left."""
    head: list[Row] = []
    bad: Row | None = None
    with closing(rows()) as found:
        for row in found:
            if row.problem is None:
                head.append(row)
            else:
                bad = bad or row
            if len(head) == SAMPLE or (bad and not wish.skip_bad_rows):
                break
    if bad and not (head and wish.skip_bad_rows):
        raise InputError(f"{name}, {bad.where()}: {bad.problem}")
    if not head:
        raise InputError(f"{name}: no rows are found; at least one is expected")
    return head


def _columns(name: str, rows: Rows, head: list[Row], wish: Wish, alike: bool) -> Columns:
    sample = [row.fields for row in head]
    columns = dict.fromkeys(column for fields in sample for column in fields)
    try:
        return find_columns(name, list(columns), sample, wish.text, wish.label, wish.labelled, wish.known, wish.keep)
    except InputError:
        if alike:
            raise
    # A column that was asked for may come further down; if not, the complaint lists them all.
    with closing(rows()) as found:
        for row in found:
            if row.problem is not None and not wish.skip_bad_rows:
                raise InputError(f"{name}, {row.where()}: {row.problem}")
            columns.update(dict.fromkeys(row.fields))
    return find_columns(name, list(columns), sample, wish.text, wish.label, wish.labelled, wish.known, wish.keep)
