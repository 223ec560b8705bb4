"""The texts of an Arrow column, packed for the scanner from Arrow's own buffers.

Nearly all texts are ASCII and ordinary: their bytes are copied as they are, all at once, and never become Python strings. The
others are checked, and packed, as those of any file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.examples import LONGEST_WORD, make_example
from regard.data.formats import Row
from regard.data.packing import Packed, pack_mixed
from regard.errors import InputError
from regard.extras import import_extra
from regard.kernels.text_bytes import NOT_ASCII, inspect


def is_text_column(kind: Any) -> bool:
    """Whether an Arrow type holds strings; lists of texts, for one, are read row by row."""
    types = import_extra("pyarrow", "Parquet").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


@dataclass(frozen=True)
class ColumnTexts:
    """The texts of a column. One that cannot be used has an error, and is empty."""

    packed: Packed
    errors: dict[int, str] = field(default_factory=dict)  # by index

    def __len__(self) -> int:
        return len(self.packed.offsets) - 1

    @property
    def is_bad(self) -> NDArray[np.bool_]:
        bad = np.zeros(len(self), dtype=np.bool_)
        bad[list(self.errors)] = True
        return bad


def column_texts(column: Any, where: str, name: str, first_row: int, lowercase: bool) -> ColumnTexts:
    """`column`: an Arrow array of strings, the column `name` of the file `where` from its row `first_row` on."""
    data, offsets, missing = buffers(column)
    flags = inspect(data, offsets, LONGEST_WORD)
    flags[missing] = NOT_ASCII
    errors: dict[int, str] = {}
    replaced: dict[int, bytes] = {}
    for index in np.flatnonzero(flags).tolist():
        raw = None if missing[index] else data[offsets[index] : offsets[index + 1]].tobytes()
        value = None if raw is None else raw.decode("utf-8", "surrogateescape")
        try:
            text = make_example(Row(first_row + index, None, {name: value}), where, name, None, labelled=False).text
        except InputError as error:
            errors[index], replaced[index] = str(error), b""
        else:
            if flags[index] & NOT_ASCII:
                replaced[index] = pack_mixed(text, lowercase)
    return ColumnTexts(assembled(data, offsets, replaced), errors)


def buffers(column: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.bool_]]:
    """Arrow's bytes, where each text begins in them, and which are null; only offsets are converted."""
    arrow = import_extra("pyarrow", "Parquet")
    array = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
    array = array.cast(arrow.large_string())
    _, starts, content = array.buffers()
    length, offset = len(array), array.offset
    empty = np.zeros(1 if not length else length + 1, dtype=np.int64)
    offsets = empty if starts is None else np.frombuffer(starts, np.int64)[offset : offset + length + 1]
    data = np.empty(0, dtype=np.uint8) if content is None else np.frombuffer(content, np.uint8)
    missing = np.zeros(length, dtype=np.bool_)
    if array.null_count:
        missing = np.asarray(array.is_null().to_numpy(zero_copy_only=False))
    return data, offsets, missing


def assembled(data: NDArray[np.uint8], offsets: NDArray[np.int64], replaced: dict[int, bytes]) -> Packed:
    """A copy, which the scanner may write to, with other bytes for some of the texts."""
    if not replaced:
        return Packed(data[offsets[0] : offsets[-1]].copy(), offsets - offsets[0])
    lengths = np.diff(offsets)
    view, pieces, done = data.data, list[Any](), int(offsets[0])
    for index, content in replaced.items():
        pieces += (view[done : int(offsets[index])], content)
        done = int(offsets[index + 1])
        lengths[index] = len(content)
    pieces.append(view[done : int(offsets[-1])])
    bounds = np.zeros(len(offsets), dtype=np.int64)
    lengths.cumsum(out=bounds[1:])
    return Packed(np.frombuffer(bytearray().join(pieces), dtype=np.uint8), bounds)
