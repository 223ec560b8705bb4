"""Tables as Parquet (with pyarrow, streamed) and as spreadsheets (with XlsxWriter)."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from regard.errors import InputError
from regard.extras import import_extra

Cell = str | int | float | None
CHUNK = 1 << 14  # rows of one row group
MOST_ROWS = 1_048_576  # of a sheet, with its header
LONGEST_CELL = 32_767  # characters
LARGEST_WHOLE = 2**53  # spreadsheets store numbers as floats


class Pieces(io.RawIOBase):
    """A file that keeps what is written until it is taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._written += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._written

    def take(self) -> list[bytes]:
        parts, self._parts = self._parts, []
        return parts


def parquet_pieces(head: Sequence[str], rows: Iterable[Sequence[Cell]], texts: Collection[str]) -> Iterator[bytes]:
    """The file in pieces. `texts` are the columns of strings; of the others, `row` has whole numbers and the rest fractions."""
    arrow, parquet = import_extra("pyarrow", "Parquet"), import_extra("pyarrow.parquet", "Parquet")
    kinds = [arrow.string() if name in texts else arrow.int64() if name == "row" else arrow.float64() for name in head]
    schema = arrow.schema([arrow.field(clean(name), kind) for name, kind in zip(head, kinds, strict=True)])
    remaining, file = iter(rows), Pieces()
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while chunk := list(islice(remaining, CHUNK)):
            columns = []
            for name, kind, column in zip(head, kinds, zip(*chunk, strict=True), strict=True):
                values = [None if x is None else clean(str(x)) for x in column] if name in texts else list(column)
                columns.append(arrow.array(values, kind))
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
            yield from file.take()
    yield from file.take()


def xlsx_pieces(head: Sequence[str], rows: Iterable[Sequence[Cell]], note: Callable[[str], None]) -> Iterator[bytes]:
    """The file, in one piece. Every string is written as text: one that begins with = never becomes a formula."""
    xlsxwriter = import_extra("xlsxwriter", "the format xlsx")
    file, cut = io.BytesIO(), 0
    with tempfile.TemporaryDirectory() as folder:
        book = xlsxwriter.Workbook(file, {"constant_memory": True, "tmpdir": folder})
        try:
            sheet = book.add_worksheet("predictions")
            for column, name in enumerate(head):
                sheet.write_string(0, column, clean(name)[:LONGEST_CELL], book.add_format({"bold": True}))
            sheet.freeze_panes(1, 0)
            for number, row in enumerate(rows, 1):
                if number >= MOST_ROWS:
                    raise InputError(
                        f"--format xlsx: a spreadsheet holds {MOST_ROWS - 1:,} rows; expected .csv or .parquet for more"
                    )
                cut += sum(write_cell(sheet, number, column, cell) for column, cell in enumerate(row))
        finally:
            book.close()
    if cut:
        note(f"{cut:,} cells were cut to {LONGEST_CELL:,} characters, the most that a spreadsheet holds")
    yield file.getvalue()


def write_cell(sheet: Any, row: int, column: int, cell: Cell) -> bool:
    """Whether it had to be cut."""
    if cell is None:
        return False
    if isinstance(cell, bool) or (isinstance(cell, int) and abs(cell) > LARGEST_WHOLE) or cell in NOT_FINITE:
        cell = str(cell)
    if not isinstance(cell, str):
        sheet.write_number(row, column, cell)
        return False
    sheet.write_string(row, column, clean(cell)[:LONGEST_CELL])
    return len(cell) > LONGEST_CELL


NOT_FINITE = (float("inf"), float("-inf"))


def clean(text: str) -> str:
    """Without lone surrogates, which no file can contain."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
