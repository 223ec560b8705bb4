"""Tables in parts, `--part K/N`, for the arrays of a batch system such as Slurm: each part writes a file of its own.

The part of a run follows from its cell and seed alone. So it stays the same if other cells are added to the table or taken out
between the parts, or if --only or --seeds select others. `--render` copies the rows of all parts into TABLE.jsonl.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from regard.errors import InputError
from regard_lab.results import Lock, append, key, read_rows, repair
from regard_lab.rows import Row, RunKey
from regard_lab.tables.table import Cell

_NAME = re.compile(r"\.part-(\d+)-of-(\d+)\.jsonl$")


def parse_part(text: str) -> tuple[int, int]:
    """K/N -> (K, N)"""
    numbers = text.split("/")
    if len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
        raise InputError(f"--part: expected K/N, such as 1/8, got {text!r}")
    part, parts = int(numbers[0]), int(numbers[1])
    if not 1 <= part <= parts:
        raise InputError(f"--part: expected K from 1 to N, got {text!r}")
    return part, parts


def part_file(path: Path, part: tuple[int, int]) -> Path:
    return path.with_name(f"{path.stem}.part-{part[0]}-of-{part[1]}.jsonl")


def part_files(path: Path) -> list[Path]:
    """Those next to the results file, in the order of their numbers."""
    files = [one for one in path.parent.glob(f"{path.stem}.part-*.jsonl") if _NAME.search(one.name)]
    return sorted(files, key=numbers_of)


def numbers_of(path: Path) -> tuple[int, int]:
    """(N, K)"""
    found = _NAME.search(path.name)
    assert found is not None  # `part_files` has looked
    return int(found[2]), int(found[1])


def other_parts(cells: Sequence[Cell], seeds: int | None, part: tuple[int, int]) -> set[RunKey]:
    """The runs that belong to other parts."""
    return {
        (*cell.key, seed)
        for cell in cells
        for seed in range(cell.seeds if seeds is None else seeds)
        if part_of(cell, seed, part[1]) != part[0]
    }


def part_of(cell: Cell, seed: int, parts: int) -> int:
    """From 1 to `parts`.

    A cell begins at a part that its hash chooses, and its seeds are dealt from there on: sizes of parts differ less than if every
    run had a hash of its own, and not at all if the number of seeds is a multiple of the number of parts.
    """
    digest = hashlib.sha256(json.dumps([*cell.key, cell.fingerprint]).encode()).digest()
    return (int.from_bytes(digest[:8], "big") + seed) % parts + 1


def merge_parts(path: Path) -> list[str]:
    """Copy the rows of all parts that the results file does not have. Returns notes for the user."""
    files = part_files(path)
    if not files:
        return []
    with Lock(path):
        repair(path)
        present = {identity(row) for row in read_rows(path)[0]}
        copied, notes = 0, missing_parts(files)
        for file in files:
            rows, more = read_rows(file)
            notes += more
            for row in rows:
                if identity(row) not in present:
                    present.add(identity(row))
                    append(path, row)
                    copied += 1
    return [f"{path}: {copied} rows of {len(files)} parts were added", *notes]


def identity(row: Row) -> str:
    """Equal for copies of a row, and for two successful runs of the same cell and seed, of which one is enough."""
    shared = (*key(row), row["fingerprint"])
    return json.dumps([*shared, row.get("error")])


def missing_parts(files: Iterable[Path]) -> list[str]:
    present: dict[int, set[int]] = {}
    for count, number in map(numbers_of, files):
        present.setdefault(count, set()).add(number)
    notes = []
    for count, numbers in present.items():
        missing = sorted(set(range(1, count + 1)) - numbers)
        if missing:
            shown = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
            notes.append(f"of {count} parts, {len(missing)} have no results yet: {shown}")
    return notes
