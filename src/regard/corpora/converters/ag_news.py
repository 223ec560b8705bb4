"""AG News as Zhang, Zhao and LeCun (2015) made it: train.csv and test.csv of class (1–4), title, description."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING

from regard.corpora.source import File, Source
from regard.corpora.splits import Record, Splits, with_dev
from regard.data.tables import LONGEST_FIELD

if TYPE_CHECKING:
    from _csv import Reader

PATTERN = r"/(train|test)\.csv$"


def convert(source: Source) -> Splits:
    found: dict[str, list[Record]] = {}
    for file in source.files(PATTERN):
        source.refuse_second(file, found)
        found[file.group(1)] = [
            {"title": title, "text": text, "label": label} for label, (title, text) in classed(file, 2, 4)
        ]
    held = with_dev(found.get("train", []), 2_000, 120_000)
    return {split: rows for split, rows in {**held, "test": found.get("test", [])}.items() if rows}


def classed(file: File, texts: int, classes: int) -> Iterator[tuple[int, list[str]]]:
    """Rows of a class from 1 on and so many texts, as label from 0 on and the texts; a first row of names is left out."""
    reader = csv.reader((line + "\n" for _, line in file.lines()), strict=True)
    try:
        for row in unlimited(reader):
            if reader.line_num == 1 and row and not row[0].strip().isdigit():
                continue
            if len(row) != texts + 1:
                raise file.fault(
                    reader.line_num, f"{len(row)} fields are found; {texts + 1} are expected (class, then text)"
                )
            if row[0].strip() not in map(str, range(1, classes + 1)):
                raise file.fault(
                    reader.line_num, f"class {row[0][:20]!r} is found; a whole number of 1 to {classes} is expected"
                )
            yield int(row[0]) - 1, row[1:]
    except csv.Error as problem:
        raise file.fault(reader.line_num, f"{problem}; fields in quotation marks are expected") from None


def unlimited(reader: Reader) -> Iterator[list[str]]:
    """Rows with texts as long as regard reads them elsewhere. The parser's limit is everybody's: it is put back each time."""
    while True:
        before = csv.field_size_limit(LONGEST_FIELD)
        try:
            row = next(reader, None)
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        yield row
