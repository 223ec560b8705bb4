"""How far the sheets of an .xlsx or .xlsm file reach, before python-calamine allocates every place from the first to the last.

A file of a kilobyte may have a cell at the far corner: 17 thousand million places. The other kinds of spreadsheets are left to
the library, which limits the repetitions of .ods.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator

from regard.data.archives import DAMAGED
from regard.data.decoding import LARGEST_WHOLE, LONGEST_LINE, too_long
from regard.errors import InputError

MOST_PLACES = 2**26
PIECE = 2**20  # bytes
XLS = b"\xd0\xcf\x11\xe0"  # how .xls files begin, which may contain others
ATTRIBUTE = rb"""\s*+[^\s=<>"'/]++\s*+=\s*+(?:"[^"]*+"|'[^']*+')"""
TAG = re.compile(  # a row or a cell: its name, its place if it has one, and a slash if it is empty
    rb"<(?:[^\s<>:]++:)*(row|c)(?=[\s/>])"
    rb"(?:(?:" + ATTRIBUTE + rb""")*?\s*+r\s*+=\s*+["']([A-Za-z]*+)([0-9]*+)["'])?"""
    rb"(?:" + ATTRIBUTE + rb")*+\s*+(/?)"
)
Tag = tuple[bytes, bytes, bytes, bytes]


def check_extent(content: bytes, name: str) -> None:
    """Refuse a spreadsheet that would fill the memory. Whatever is not a zip file is left to the library."""
    if content.startswith(XLS) or not zipfile.is_zipfile(io.BytesIO(content)):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if sum(one.file_size for one in members) > LARGEST_WHOLE:
                raise InputError(
                    f"{name}: {too_long('a spreadsheet', LARGEST_WHOLE, 'bytes when it is unpacked')}; save it as .csv"
                )
            for one in members:
                with archive.open(one) as file:
                    rows, columns = extent(iter(lambda file=file: file.read(PIECE), b""), name)  # type: ignore[misc]
                if rows * columns > MOST_PLACES:
                    raise InputError(
                        f"{name}: expected a sheet of up to {MOST_PLACES:,} cells, got one that reaches to row {rows:,} of "
                        f"column {columns:,}; delete what lies far outside of the table, or save it as .csv"
                    )
    except InputError:
        raise
    except (*DAMAGED, RuntimeError) as problem:
        raise incomplete(name, problem) from None


def incomplete(name: str, problem: Exception) -> InputError:
    reason = (str(problem).splitlines() or [type(problem).__name__])[0]
    return InputError(f"{name}: is not a complete spreadsheet ({reason})")


def extent(pieces: Iterable[bytes], name: str) -> tuple[int, int]:
    """The numbers of rows and columns at most. What has no place of its own follows the one before."""
    rows = columns = filled = 0
    unplaced_rows = unplaced = longest = 0  # cells of the row so far, and of the row with the most
    for block in whole_tags(pieces, name):
        tags: list[Tag] = TAG.findall(block)
        distinct = set(tags)
        for kind, letters, digits, empty in distinct:
            if digits:
                rows = max(rows, number_of(digits))
                columns = max(columns, column_of(letters))
                filled = max(filled, 0 if empty and kind == b"c" else column_of(letters))
        unplaced_rows += sum(kind == b"row" and not digits for kind, _, digits, _ in tags)
        if any(kind == b"c" and not digits for kind, _, digits, _ in distinct):
            for kind, _, digits, _ in tags:
                unplaced = 0 if kind == b"row" else unplaced + (not digits)
                longest = max(longest, unplaced)
        elif any(kind == b"row" for kind, *_ in distinct):
            unplaced = 0
    # an empty cell takes no place, but the next one may follow it
    return rows + unplaced_rows, columns + longest if longest else filled


def whole_tags(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    held = b""
    for piece in pieces:
        block = held + piece
        end = max(block.rfind(b"<"), 0)
        if len(block) - end > LONGEST_LINE:
            raise InputError(f"{name}: {too_long('a cell', LONGEST_LINE, 'bytes')}")
        yield block[:end]
        held = block[end:]
    yield held


def number_of(digits: bytes) -> int:
    return int(digits) if len(digits) < 12 else 10**12


def column_of(letters: bytes) -> int:
    """A is 1, Z 26, AA 27."""
    number = 0
    for letter in letters.upper()[:9]:
        number = number * 26 + letter - ord("A") + 1
    return number
