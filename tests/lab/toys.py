"""A small table, small corpora and rows as written by runs, for tests of `regard reproduce`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from regard.recorder import Silent
from regard_lab.reading.table_file import read_table
from regard_lab.results import complete
from regard_lab.tables.context import Context
from regard_lab.tables.table import Table

Rows = dict[str, dict[str, Any]]

TOML = """
title = "A toy"
where = "Table 9"
seeds = 2
measures = ["accuracy", "macro_f"]
first = ["shallow"]
note = "Made up."

[options]
text = "text"
label = "label"
pairs = false
epochs = 2
embedding = 4

[methods.plain]
title = "Plain"

[methods.shallow]
title = "Shallow & quick"
embedding = 2

[methods.affine]
title = "Affine"
encoder = "affine"
hidden = 4

[corpora.films]
title = "Films"
train = "films"
dev = "films/dev"
test = "films/test"

[corpora.meals]
title = "Meals"
train = "meals"
hold_out = 0.2
hold_out_by = "place"
test = "meals/test"
skip = ["affine"]

[printed.films]
plain = [80.25, 79.5]
shallow = [70.0, 69.0]

[[compare]]
method = "plain"
against = "shallow"

[[figure]]
name = "means"
kind = "intervals"
measure = "accuracy"

[[figure]]
name = "loss"
kind = "path"
value = "loss"
"""
UNPRINTED = TOML.replace("[printed.films]\nplain = [80.25, 79.5]\nshallow = [70.0, 69.0]\n", "")

GOOD, BAD = ("lovely", "warm", "bright", "kind"), ("dull", "cold", "grim", "rude")


def write_texts(path: Path, count: int, start: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        for n in range(start, start + count):
            word = (GOOD if n % 2 else BAD)[n // 2 % 4]
            row = {"text": f"a {word} thing number {n % 7}", "label": n % 2, "place": f"place {n % 10}"}
            file.write(json.dumps(row) + "\n")


def written_table(path: Path, toml: str, name: str) -> Table:
    path.write_text(toml, encoding="utf-8")
    return read_table(path, name)


def first_rows(
    table: Table, folder: Path, splits: Mapping[str, tuple[int, int]], write: Callable[[Path, int, int], None]
) -> Rows:
    """Each method's row of the first seed, on the corpus `toy` of splits of (count, start)."""
    for split, (count, start) in splits.items():
        write(folder / "toy" / f"{split}.jsonl", count, start)
    context, rows = Context("cpu", Silent()), {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_DATA", str(folder))
        for cell in table.cells():
            assert table.implementation.check is not None
            table.implementation.check(cell)
            for result in table.implementation.run(cell, [0], context):
                rows[cell.method] = complete(cell, table.name, "cpu", result)
    return rows
