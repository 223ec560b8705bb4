"""Results in the form of the first version, one line of JSON per draw in CORPUS.jsonl, as files per system, corpus and size.

    python benchmarks/leaderboard/convert.py CORPUS.jsonl …

Nothing is added, left out or rounded. A draw that has a result already is replaced with that of the given files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from storage import save_row


def convert(paths: Iterable[Path], folder: Path | None = None) -> int:
    """Returns the number of draws."""
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        save_row(row, folder)
    return len(rows)


if __name__ == "__main__":
    print(f"{convert(map(Path, sys.argv[1:])):,} draws converted")
