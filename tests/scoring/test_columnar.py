"""`regard predict` from Parquet to Parquet: the values that other formats have, with the types of the columns that are kept."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from parquet_case import write_parts

from command import Regard
from regard.cli import main

pq = pytest.importorskip("pyarrow.parquet")
pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="session")
def flat(table: Path) -> Path:
    """A run of the fast engine."""
    folder = table.parent / "columnar"
    assert main(["train", str(table), "--epochs", "2", "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return write_parts(tmp_path / "in", 1) / "part-0.parquet"


@pytest.mark.parametrize("options", [(), ("--top", "2"), ("--digits", "3"), ("--novelty",), ("--keep", "stars", "id")])
@pytest.mark.parametrize("model", ["flat", "run", "rated"])
def test_parquet_has_the_values_of_the_csv(
    regard: Regard, part: Path, options: tuple[str, ...], model: str, request: pytest.FixtureRequest
) -> None:
    if model == "rated" and "--top" in options:
        pytest.skip("numbers have no classes")
    folder, out = request.getfixturevalue(model), part.parent / "out.parquet"
    result = regard("predict", folder, part, "--out", out, *options)
    assert result.code == 0, result.err
    assert "1 of 40 rows has no prediction; see the column error" in result.err
    table = pq.read_table(out)
    rows = [*csv.DictReader(io.StringIO(regard("predict", folder, part, "--format", "csv", *options).out))]
    assert table.column_names == list(rows[0])
    for row, expected in zip(table.to_pylist(), rows, strict=True):
        for name, value in row.items():
            if isinstance(value, float):
                assert value == pytest.approx(float(expected[name]), rel=1e-6)
            else:
                assert ("" if value is None else str(value)) == expected[name]


def test_columns_that_are_kept_have_their_types(regard: Regard, flat: Path, part: Path) -> None:
    out = part.parent / "out.parquet"
    assert regard("predict", flat, part, "--out", out, "--keep", "id", "stars").code == 0
    schema = pq.read_schema(out)
    assert (schema.field("id").type, schema.field("stars").type) == (pa.int64(), pa.float64())


def test_strict_names_the_first_bad_row(regard: Regard, flat: Path, part: Path) -> None:
    result = regard("predict", flat, part, "--out", part.parent / "out.parquet", "--strict")
    assert result.code == 2
    assert "row 4, column 'text': expected a text or a list of texts, got null (without --strict" in result.error
    assert not (part.parent / "out.parquet").exists()


@pytest.mark.parametrize("texts", [[None, None], ["", " "]])
def test_a_file_without_usable_rows_is_refused(regard: Regard, flat: Path, tmp_path: Path, texts: list[Any]) -> None:
    path = tmp_path / "empty.parquet"
    pq.write_table(pa.table({"text": pa.array(texts, pa.string())}), path)
    result = regard("predict", flat, path, "--text", "text", "--out", tmp_path / "out.parquet")
    assert result.code == 2
    assert "expected at least 1 usable row, got 0" in result.error


def test_lists_of_texts_are_read_row_by_row(regard: Regard, flat: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "lists.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"text": [["good film", "bad food"], ["filthy room"]]}), path)
    assert regard("predict", flat, path, "--text", "text", "--out", out).code == 0
    assert pq.read_table(out).num_rows == 2
