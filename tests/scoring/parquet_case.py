"""Parquet files of reviews with identifiers, some of which cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regard.data.reviews import reviews


def write_parts(folder: Path, files: int = 3, rows: int = 40, group: int = 16) -> Path:
    """`files` files of `rows` rows in row groups of `group`; the fourth row of each has no text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    examples = [example.text for example in reviews(files * rows)]
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        texts: list[str | None] = list(examples[number * rows : (number + 1) * rows])
        texts[3] = None
        ids = range(number * rows, (number + 1) * rows)
        table = pa.table({"id": pa.array(ids, pa.int64()), "text": texts, "stars": pa.array([1.5] * rows)})
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=group)
    return folder


def read_folder(folder: Path) -> list[dict[str, Any]]:
    """All rows of a folder of predictions, by identifier."""
    import pyarrow.dataset as ds

    rows: list[dict[str, Any]] = ds.dataset(folder, format="parquet").to_table().to_pylist()
    return sorted(rows, key=lambda row: row["id"])
