"""The texts of an Arrow column, packed for the scanner from Arrow's own buffers.

Nearly all texts are ordinary: their bytes are copied as they are, all at once. Of those that are not ASCII, the pieces between
blanks with other characters become Python strings, as in `data/packing.py`. The few others are checked, and packed, as those
of any file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.examples import LONGEST_WORD, make_example
from regard.data.formats import Row
from regard.data.packing import Packed, pack_mixed, pack_piece
from regard.errors import InputError
from regard.extras import import_extra
from regard.kernels.text_bytes import NOT_ASCII, ODD, WORDLESS, inspect, other_pieces


def is_text_column(kind: Any) -> bool:
    """Whether an Arrow type holds strings; lists of texts, for one, are read row by row.

    Null too: pandas and Arrow give that type to a column in which every text is missing, or which has no rows.
    """
    types = import_extra("pyarrow", "Parquet").types
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind)
    )


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


class Edit(NamedTuple):
    """Other content for some of the bytes of a text."""

    text: int
    start: int  # in the bytes of the column
    end: int
    content: bytes


def column_texts(column: Any, where: str, name: str, first_row: int, lowercase: bool) -> ColumnTexts:
    """`column`: an Arrow array of strings, the column `name` of the file `where` from its row `first_row` on."""
    data, offsets, missing = buffers(column)
    flags = inspect(data, offsets, LONGEST_WORD)
    flags[missing] = ODD
    pieces = other_pieces(data, offsets, (flags & (NOT_ASCII | ODD)) == NOT_ASCII)
    chosen = np.flatnonzero(flags)
    ends = pieces.counts[chosen].cumsum().tolist()
    edges = [*zip(pieces.starts.tolist(), pieces.ends.tolist(), strict=True)]
    errors: dict[int, str] = {}
    edits: list[Edit] = []
    done = 0
    for index, flag, end in zip(chosen.tolist(), flags[chosen].tolist(), ends, strict=True):
        words = None if flag & ODD else packed_pieces(data, index, edges[done:end], lowercase)
        done = end
        if words is not None and not (flag & WORDLESS and all(not edit.content for edit in words)):
            edits += words
            continue
        raw = None if missing[index] else data[offsets[index] : offsets[index + 1]].tobytes()
        value = None if raw is None else raw.decode("utf-8", "surrogateescape")
        content = b""
        try:
            text = make_example(Row(first_row + index, None, {name: value}), where, name, None, labelled=False).text
        except InputError as error:
            errors[index] = str(error)
        else:
            if not flag & NOT_ASCII:
                continue
            content = pack_mixed(text, lowercase)
        edits.append(Edit(index, int(offsets[index]), int(offsets[index + 1]), content))
    return ColumnTexts(assembled(data, offsets, edits), errors)


def packed_pieces(
    data: NDArray[np.uint8], text: int, edges: Sequence[tuple[int, int]], lowercase: bool
) -> list[Edit] | None:
    """The words of a text's pieces in other scripts; None if they are not UTF-8. All else is ASCII, so then the text is not."""
    try:
        return [
            Edit(text, start, end, pack_piece(data[start:end].tobytes().decode(), lowercase)) for start, end in edges
        ]
    except UnicodeDecodeError:
        return None


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


def assembled(data: NDArray[np.uint8], offsets: NDArray[np.int64], edits: Sequence[Edit]) -> Packed:
    """A copy, which the scanner may write to, with other bytes in some places, in their order."""
    if not edits:
        return Packed(data[offsets[0] : offsets[-1]].copy(), offsets - offsets[0])
    lengths = np.diff(offsets)
    for edit in edits:
        lengths[edit.text] += len(edit.content) - (edit.end - edit.start)
    bounds = np.zeros(len(offsets), dtype=np.int64)
    lengths.cumsum(out=bounds[1:])
    result = np.empty(bounds[-1], dtype=np.uint8)
    source, target = data.data, result.data
    done, at = int(offsets[0]), 0
    for _, start, end, content in edits:
        target[at : at + start - done] = source[done:start]
        at += start - done
        target[at : at + len(content)] = content
        at, done = at + len(content), end
    target[at:] = source[done : int(offsets[-1])]
    return Packed(result, bounds)
