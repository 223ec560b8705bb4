"""Where a table's numbers come from: command, runs, devices, versions, seeds, data and cost."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence

from regard_lab.rows import Row
from regard_lab.tables.table import Table


def sources(table: Table, rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    good = [row for row in rows if "error" not in row]
    seeds = sorted({row["seed"] for row in rows})
    failed = len(rows) - len(good)
    found = [("Command", f"regard reproduce {shlex.quote(table.asked or table.name)}")]
    found.append(("Runs", f"{len(rows)}" + (f", of which {failed} failed" if failed else "")))
    if seeds:
        found.append(("Seeds", ranges(seeds)))
    if rows:
        found.append(("Time", f"{hours(sum(row['seconds'] for row in rows))} of runs in all"))
    for name in ("device", "versions"):
        counts = Counter(told for row in good if (told := devices(row) if name == "device" else versions(row)))
        for told, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            found.append((name.capitalize(), f"{told} ({count} runs)" if len(counts) > 1 else told))
    for file, sums in sorted(checksums(good).items()):
        found.append(("Data", f"{file} {' and '.join(sorted(sums))}" + (" (runs differ!)" if len(sums) > 1 else "")))
    return tuple(found)


def checksums(rows: Sequence[Row]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in rows:
        for file, told in row.get("data", {}).items():
            found.setdefault(file, set()).add(str(told))
    return found


def devices(row: Row) -> str:
    environment = row.get("environment", {})
    name = environment.get("cuda") or environment.get("cpu", "")
    beside = f", {row['stacked']} seeds at once" if row.get("stacked", 1) > 1 else ""
    kind = "CUDA" if "cuda" in environment else "CPU" if "cpu" in environment else str(row.get("device", ""))
    return (f"{kind}: {name}" if name else kind) + beside


def versions(row: Row) -> str:
    environment = row.get("environment", {})
    return ", ".join(
        f"{name} {environment[name]}" for name in ("regard", "python", "torch", "numba") if name in environment
    )


def hours(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def ranges(numbers: Sequence[int]) -> str:
    """0–4, 7"""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)
