"""Spreadsheets to rows (.xlsx, .xlsm, .xlsb, .xls, .ods), by python-calamine: the first sheet that has rows below its header."""

from __future__ import annotations

import io
from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from regard.data.decoding import Source, opened, read_whole
from regard.data.formats import Row, Rows, repeated
from regard.data.sheet_extent import check_extent, incomplete
from regard.errors import InputError
from regard.extras import import_extra

SHEETS = ("xlsx", "xlsm", "xlsb", "xls", "ods")
Cells = Sequence[Sequence[Any]]


def sheet_rows(source: Source, name: str) -> Rows:
    calamine = import_extra("python_calamine", f"{name}: a spreadsheet")
    with opened(source) as file:
        content = read_whole(file, name)
    check_extent(content, name)
    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = (book.get_sheet_by_name(sheet).to_python(skip_empty_area=False) for sheet in book.sheet_names)
        filled = next((cells for cells in sheets if sum(map(has_content, cells)) > 1), None)
    except (calamine.CalamineError, OSError, ValueError) as problem:
        raise incomplete(name, problem) from None
    except BaseException as problem:  # no Exception: a defect of the library in Rust
        if type(problem).__name__ != "PanicException":
            raise
        raise InputError(f"{name}: is not a complete spreadsheet (python-calamine: {str(problem)[:200]})") from None
    if filled is None:
        raise InputError(f"{name}: expected a sheet with column names in its first row and data below, found none")
    header = next(number for number, row in enumerate(filled) if has_content(row))
    columns = [str(plain(cell)).strip() for cell in filled[header]]
    if twice := repeated(columns):
        raise InputError(f"{name}: expected different column names in the first row, got {twice[0]!r} twice")
    return partial(numbered, columns, filled[header + 1 :], header + 2)


def has_content(row: Sequence[Any]) -> bool:
    return any(cell != "" for cell in row)


def numbered(columns: Sequence[str], cells: Cells, line: int) -> Generator[Row, None, None]:
    """The rows that have content; `line` is the row of the sheet that the first of them is in."""
    number = 0
    for offset, row in enumerate(cells):
        if not has_content(row):
            continue
        number += 1
        pairs = zip(columns, row, strict=False)
        fields = {column: plain(cell) if cell != "" else None for column, cell in pairs if column}
        yield Row(number, f"row {number} (row {line + offset} of the sheet)", fields)


def plain(cell: Any) -> object:
    """Spreadsheets store whole numbers as fractions, and dates as objects."""
    if isinstance(cell, float) and cell.is_integer():
        return int(cell)
    return cell if isinstance(cell, str | bool | int | float) else str(cell)
