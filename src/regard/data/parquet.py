"""Parquet files to rows, by pyarrow."""

from __future__ import annotations

import gzip
import io
from collections.abc import Generator
from functools import partial
from typing import Any, NamedTuple

from regard.data.archives import Zipped
from regard.data.decoding import Source, opened, read_whole
from regard.data.formats import Row, Rows, repeated
from regard.errors import InputError
from regard.extras import import_extra

PARQUET_CHUNK = 1024  # rows that are read in one go
DAMAGE = (
    OSError,
    ValueError,
    NotImplementedError,
    RecursionError,
    OverflowError,
)  # what pyarrow raises over damaged files


class ParquetValue(NamedTuple):
    """A value that Python has none for, such as a date after the year 9999, as pyarrow writes it."""

    text: str

    def __str__(self) -> str:
        return self.text


def parquet_rows(source: Source, name: str) -> Rows:
    parquet = import_extra("pyarrow.parquet", f"{name}: Parquet")
    return partial(_batches, parquet, source, name)


def _batches(parquet: Any, source: Source, name: str) -> Generator[Row, None, None]:
    number = 0
    with opened(source) as file:
        # Parquet is read from its end, which gzip and zip do not allow: such a file is unpacked into memory.
        packed = isinstance(file, gzip.GzipFile) or isinstance(source, Zipped)
        whole = io.BytesIO(read_whole(file, name)) if packed else file
        try:
            table = parquet.ParquetFile(whole)
            columns = [str(column) for column in table.schema_arrow.names]
            if twice := repeated(columns):
                raise columns_of_one_name(name, twice[0])
            for batch in table.iter_batches(PARQUET_CHUNK):
                for fields in _rows(batch, columns):
                    number += 1
                    yield Row(number, None, fields)
        except InputError:
            raise
        except DAMAGE as problem:
            raise InputError(f"{name}: is not a complete Parquet file ({reason(problem)})") from None


def reason(problem: Exception) -> str:
    return (str(problem).splitlines() or [type(problem).__name__])[0]


def columns_of_one_name(where: str, column: str) -> InputError:
    return InputError(f"{where}: expected different column names, got {column[:40]!r} twice; rename one of the columns")


def _rows(batch: Any, columns: list[str]) -> list[dict[str, object]]:
    """The fields of each row; value by value only if some have no counterpart in Python."""
    try:
        rows: list[dict[str, object]] = batch.to_pylist()
        return rows
    except (ValueError, OverflowError, ArithmeticError):
        values = zip(*([_value(scalar) for scalar in column] for column in batch.columns), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in values]


def _value(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return _marked(scalar)
    except (ValueError, OverflowError, ArithmeticError):
        try:
            return ParquetValue(str(scalar.cast("string").as_py()))
        except (ValueError, NotImplementedError):  # inside of a list or an object
            return ParquetValue(f"a value of type {scalar.type}")


def _marked(scalar: Any) -> str | None:
    """Bytes that are not UTF-8 become lone surrogates, which make their row a bad one if it is the text or the label."""
    try:
        return str(scalar.as_buffer().to_pybytes().decode("utf-8", "surrogateescape"))
    except AttributeError:  # a list of strings
        return "\udc80"
