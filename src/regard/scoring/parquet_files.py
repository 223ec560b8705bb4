"""Reading partitions and writing their predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from regard.data.arrow_texts import is_text_column
from regard.data.parquet import DAMAGE, reason
from regard.errors import InputError, quoted
from regard.extras import import_extra
from regard.report.text.prediction_files import Pieces
from regard.scoring.locations import Place, complete_file
from regard.scoring.partitions import SCORED, Partition, open_parquet
from regard.scoring.scorer import Scorer

BATCH = 4096  # rows scored at a time by one thread
GROUP_ROWS, GROUP_BYTES = 1 << 16, 1 << 26  # a row group ends with the batch that reaches one of these
COMPRESSION = "zstd"
ROWS_AT_ONCE = 1 << 14  # of a file that one process predicts with several threads


class Counts(NamedTuple):
    rows: int
    bad: int


@dataclass(frozen=True)
class Columns:
    """Which columns of a file are used."""

    text: str
    kept: tuple[str, ...]  # copied with their types, in this order; the text may be one of them


def all_columns(schema: Any, text: str, kept: Sequence[str], answers: Sequence[str], where: str) -> Columns:
    """Those of a file, checked. `kept`: the columns to copy, all if empty; `answers`: those that are added."""
    for option, name in [("--text", text), *(("--keep", name) for name in kept)]:
        if name not in schema.names:
            raise InputError(f"{option} {name}: {where} has no such column; its columns are {quoted(schema.names)}")
    if not is_text_column(schema.field(text).type):
        raise InputError(f"--text {text}: expected a column of strings, got {schema.field(text).type} in {where}")
    names = tuple(dict.fromkeys(kept)) or tuple(schema.names)
    if twice := [name for name in names if name in answers]:
        raise InputError(
            f"{where}: predictions have a column {twice[0]!r} too; name the columns to copy with --keep, without that one"
        )
    return Columns(text, names)


def score_partition(scorer: Scorer, source: Place, target: Place, partition: Partition, columns: Columns) -> Counts:
    """Write the predictions for a partition as one file. Bad rows have an error, and no prediction."""
    arrow, parquet = import_extra("pyarrow", "Parquet"), import_extra("pyarrow.parquet", "Parquet")
    file = open_parquet(source, partition.source)
    all_columns(file.schema_arrow, columns.text, columns.kept, scorer.columns(), partition.source.path)
    empty = scorer.score(arrow.array([], arrow.string()), "", columns.text, 1).columns
    fields = [file.schema_arrow.field(name).remove_metadata() for name in columns.kept]
    fields += [arrow.field(name, empty[name].type) for name in scorer.columns()]
    schema = arrow.schema(fields, {SCORED: partition.identity})
    rows = bad = 0
    with (
        complete_file(target, partition.target) as out,
        parquet.ParquetWriter(out, schema, compression=COMPRESSION) as writer,
    ):
        for batches, errors in gathered(scored_batches(scorer, file, partition, columns)):
            table = arrow.Table.from_batches(batches).cast(schema)
            writer.write_table(table)
            rows, bad = rows + len(table), bad + errors
    return Counts(rows, bad)


def gathered(batches: Iterator[tuple[Any, int]]) -> Iterator[tuple[list[Any], int]]:
    """Some batches at a time: they become a row group, and readers are slow if those are small."""
    held: list[Any] = []
    rows = size = bad = 0
    for batch, errors in batches:
        held.append(batch)
        rows, size, bad = rows + len(batch), size + batch.nbytes, bad + errors
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield held, bad
            held, rows, size, bad = [], 0, 0, 0
    if held:
        yield held, bad


def scored_batches(scorer: Scorer, file: Any, partition: Partition, columns: Columns) -> Iterator[tuple[Any, int]]:
    """Batches of the columns to copy and those of the answers, with their number of bad rows."""
    arrow = import_extra("pyarrow", "Parquet")
    needed, row = list(dict.fromkeys((*columns.kept, columns.text))), partition.first_row
    groups = list(range(*partition.groups))
    for batch in read_batches(file, partition.source.path, BATCH, needed, groups):
        answered = scorer.score(batch.column(columns.text), partition.source.path, columns.text, row)
        arrays = {name: batch.column(name) for name in columns.kept}
        arrays |= {name: answered.columns[name] for name in scorer.columns()}
        yield arrow.RecordBatch.from_pydict(arrays), len(answered.errors)
        row += len(batch)


def read_batches(
    file: Any, where: str, rows: int, columns: Sequence[str], groups: Sequence[int] | None = None
) -> Iterator[Any]:
    """Batches of some columns; `groups`: of these row groups only."""
    try:
        batches = file.iter_batches(rows, groups, columns)
        while (batch := next(batches, None)) is not None:
            yield batch
    except DAMAGE as error:
        raise InputError(f"{where}: is not a complete Parquet file ({reason(error)})") from None


def has_texts(path: str, column: str) -> bool:
    """Whether a column of a file holds strings, so that it can be read as a whole."""
    schema = import_extra("pyarrow.parquet", f"{path}: Parquet").read_schema(path)
    return column in schema.names and is_text_column(schema.field(column).type)


def predict_file(
    scorer: Scorer, path: str, columns: Columns, count: Callable[[int, int], None], strict: str | None = None
) -> Iterator[bytes]:
    """The predictions for one file as a Parquet file in pieces, with the columns of `regard predict`.

    `count` is called with the rows and bad rows so far; `strict`: the end of the error about a bad row, if it ends the command.
    """
    arrow, parquet = import_extra("pyarrow", "Parquet"), import_extra("pyarrow.parquet", "Parquet")
    pieces, writer, row, bad, first = Pieces(), None, 1, 0, ""
    needed = list(dict.fromkeys((*columns.kept, columns.text)))
    for batch in read_batches(parquet.ParquetFile(path), path, ROWS_AT_ONCE, needed):
        texts = batch.column(columns.text)
        answered = scorer.score(texts, path, columns.text, row)
        first = first or next(iter(answered.errors.values()), "")
        if strict is not None and first:
            raise InputError(f"{first} ({strict})")
        arrays = {"row": arrow.array(range(row, row + len(batch)), arrow.int64())}
        arrays |= {name: batch.column(name) for name in columns.kept}
        arrays["text"] = without_bad(arrow, texts, answered.errors)
        arrays |= {name: answered.columns[name] for name in scorer.columns()}
        table = arrow.table(arrays)
        writer = writer or parquet.ParquetWriter(pieces, table.schema, compression=COMPRESSION)
        writer.write_table(table)
        yield from pieces.take()
        row, bad = row + len(batch), bad + len(answered.errors)
        count(row - 1, bad)
    if bad == row - 1:
        why = f"; the first of {bad} bad rows: {first}" if bad else ""
        raise InputError(f"{path}: expected at least 1 usable row, got 0{why}")
    assert writer is not None  # there is a row
    writer.close()
    yield from pieces.take()


def without_bad(arrow: Any, texts: Any, errors: dict[int, str]) -> Any:
    """Strings, empty where a text cannot be used."""
    texts = texts.cast(arrow.string())
    if not errors:
        return texts
    mask = [index in errors for index in range(len(texts))]
    return import_extra("pyarrow.compute", "Parquet").if_else(arrow.array(mask), "", texts)
