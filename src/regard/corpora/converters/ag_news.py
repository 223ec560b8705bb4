"""AG News as prepared by Zhang, Zhao and LeCun (2015): train.csv and test.csv with class (1–4), title, description."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING

from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits, with_dev
from regard.data.delimited import LONGEST_FIELD

if TYPE_CHECKING:
    from _csv import Reader

PATTERN = r"/(train|test)\.csv$"


def convert(source: Source) -> Splits:
    rows: dict[str, list[Record]] = {}
    for file in source.files(PATTERN):
        source.refuse_second(file, rows)
        rows[file.group(1)] = [
            {"title": title, "text": text, "label": label} for label, (title, text) in labelled_rows(file, 2, 4)
        ]
    splits = {**with_dev(rows.get("train", []), 2_000, 120_000), "test": rows.get("test", [])}
    return {split: members for split, members in splits.items() if members}


def labelled_rows(file: File, texts: int, classes: int) -> Iterator[tuple[int, list[str]]]:
    """(label from 0, texts) of rows with a class from 1 and `texts` texts; a header row is skipped."""
    reader = csv.reader((line + "\n" for _, line in file.lines()), strict=True)
    try:
        for row in _long_fields(reader):
            if reader.line_num == 1 and row and not row[0].strip().isdigit():
                continue
            if len(row) != texts + 1:
                raise file.error(reader.line_num, f"expected {texts + 1} fields (class, then text), got {len(row)}")
            if row[0].strip() not in map(str, range(1, classes + 1)):
                raise file.error(reader.line_num, f"expected a class from 1 to {classes}, got {row[0][:20]!r}")
            yield int(row[0]) - 1, row[1:]
    except csv.Error as problem:
        raise file.error(reader.line_num, f"{problem}; expected quoted fields") from None


def _long_fields(reader: Reader) -> Iterator[list[str]]:
    """Rows with texts as long as regard accepts elsewhere. The limit is global, so it is restored after every row."""
    while True:
        before = csv.field_size_limit(LONGEST_FIELD)
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        yield row
