"""Where results are kept: one JSON file per system, corpus and number of training texts, with all draws in it.

    results/SYSTEM/CORPUS-SIZE.json
    {"system": …, "corpus": …, "size": …, "draws": [{"draw": 0, "accuracy": …, …}, …]}

A size of 0 is all texts, "all" in the name of the file. One draw per line, so that a change to one shows as one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regard.files import write

RESULTS = Path(__file__).parent / "results"
SHARED = ("system", "corpus", "size")  # what all draws of a file have in common

Row = dict[str, Any]  # one draw, with what its file says about all of them


def result_path(folder: Path, system: str, corpus: str, size: int) -> Path:
    return folder / slug(system) / f"{corpus}-{size or 'all'}.json"


def slug(name: str) -> str:
    """The name of a system as that of a folder."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def read_results(folder: Path | None = None) -> list[Row]:
    """Every draw of every cell, in the order of the names of the files."""
    return [row for path in sorted((folder or RESULTS).glob("*/*.json")) for row in rows_of(path)]


def rows_of(path: Path) -> Iterator[Row]:
    content = json.loads(path.read_text(encoding="utf-8"))
    shared = {name: content[name] for name in SHARED}
    yield from (shared | draw for draw in content["draws"])


def save_row(row: Row, folder: Path | None = None) -> None:
    """Add a draw to the file of its cell, in place of an earlier one with the same number."""
    path = result_path(folder or RESULTS, row["system"], row["corpus"], row["size"])
    earlier = rows_of(path) if path.exists() else ()
    draws = {one["draw"]: one for one in (*earlier, row)}
    write_rows(path, [draws[number] for number in sorted(draws)])


def write_rows(path: Path, rows: list[Row]) -> None:
    head = [f" {json.dumps(name)}: {json.dumps(rows[0][name], ensure_ascii=False)}," for name in SHARED]
    draws = [{name: value for name, value in row.items() if name not in SHARED} for row in rows]
    lines = ",\n".join(f"  {json.dumps(draw, ensure_ascii=False)}" for draw in draws)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, "\n".join(["{", *head, ' "draws": [', lines, " ]", "}", ""]))
