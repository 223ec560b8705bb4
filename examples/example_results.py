"""Results of the examples as data: one JSON file per example, and the tables of docs/beyond_text.md.

python examples/example_results.py     writes the tables into the page
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from regard.student import t_quantile

FOLDER = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "beyond_text.md"
Row = dict[str, Any]  # the setting, the seed and the accuracy of one model


def save(name: str, rows: Iterable[Row], seconds: float, packages: Sequence[str]) -> Path:
    """Rows with the command that made them and the environment."""
    path = FOLDER / f"{name}.json"
    described = {
        "command": f"python examples/{name}.py {' '.join(sys.argv[1:])}".strip(),
        "environment": {
            "python": platform.python_version(),
            **{package: version(package) for package in packages},
            "cores": os.cpu_count(),
        },
        "seconds": round(seconds),
        "rows": list(rows),
    }
    path.write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def load(name: str) -> list[Row]:
    rows: list[Row] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["rows"]
    return rows


def table(rows: Sequence[Row], down: Sequence[str], across: str) -> str:
    """Mean ± standard deviation of the accuracy over seeds, in percent, as Markdown."""
    columns = list(dict.fromkeys(row[across] for row in rows))
    lines = [f"| {' | '.join(map(str, (*down, *columns)))} |", "|" + "---|" * (len(down) + len(columns))]
    for key in dict.fromkeys(tuple(row[name] for name in down) for row in rows):
        cells = [
            cell(
                [row["accuracy"] for row in rows if tuple(row[name] for name in down) == key and row[across] == column]
            )
            for column in columns
        ]
        lines.append(f"| {' | '.join((*map(str, key), *cells))} |")
    return "\n".join(lines)


def cell(accuracies: Sequence[float]) -> str:
    if len(accuracies) < 2:
        return f"{accuracies[0]:.1%}".rstrip("%") if accuracies else ""
    return f"{100 * statistics.mean(accuracies):.1f} ± {100 * statistics.stdev(accuracies):.1f}"


def difference(first: Sequence[float], second: Sequence[float]) -> str:
    """Mean of the paired differences in points, with a 95 % interval (Student's t)."""
    differences = [100 * (a - b) for a, b in zip(first, second, strict=True)]
    half = t_quantile(len(differences) - 1, 0.975) * statistics.stdev(differences) / len(differences) ** 0.5
    return f"{statistics.mean(differences):+.1f} ± {half:.1f}".replace("-", "−")


def pooling_table(rows: Sequence[Row]) -> str:
    """Accuracy, its difference to attention, the share of the weights on what matters, and the norm, by pooling."""
    (share,) = (name for name in rows[0] if name.startswith("weight on"))
    by_pooling = {
        name: [row for row in rows if row["pooling"] == name] for name in dict.fromkeys(r["pooling"] for r in rows)
    }
    reference = [row["accuracy"] for row in by_pooling["attention"]]
    lines = [f"| pooling | accuracy | difference to attention | {share} | norm p |", "|---|---|---|---|---|"]
    for name, group in by_pooling.items():
        accuracies = [row["accuracy"] for row in group]
        against = "" if name == "attention" or len(group) < 2 else difference(accuracies, reference)
        weight = f"{100 * statistics.mean(row[share] for row in group):.0f} %"
        norms = [row["norm"] for row in group if row["norm"] is not None]
        norm = f"{min(norms):.2f} to {max(norms):.2f}" if norms else ""
        lines.append(f"| {name} | {cell(accuracies)} | {against} | {weight} | {norm} |")
    return "\n".join(lines)


def blocks() -> dict[str, str]:
    """The tables of docs/beyond_text.md by example."""
    return {
        "image_patches": pooling_table(load("image_patches")),
        "audio_frames": pooling_table(load("audio_frames")),
        "learned_norm_units": table(load("learned_norm_units"), ("network", "q", "units"), "activation"),
    }


def with_blocks(page: str) -> str:
    for name, block in blocks().items():
        before, rest = page.split(f"<!-- examples/{name}.py -->\n")
        page = f"{before}<!-- examples/{name}.py -->\n{block}\n{rest[rest.index('<!-- end -->') :]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
