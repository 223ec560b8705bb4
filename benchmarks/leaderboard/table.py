"""results/table.md: accuracy and macro F1 of every system on every corpus, with intervals over the draws."""

from __future__ import annotations

import numpy as np
from board import Board
from cells import SIZES
from scipy import stats
from storage import RESULTS, read_results


def write_table() -> None:
    results = read_results()
    lines = [
        "# Accuracy and macro F1 by number of training texts",
        "",
        "Written by `python benchmarks/leaderboard table`. A mean is over the draws that all corpora have.",
    ]
    for size in SIZES:
        for measure, title in (("accuracy", "accuracy"), ("macro_f", "macro F1")):
            lines += section(Board([one for one in results if one["size"] == size]), size, measure, title)
    (RESULTS / "table.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))


def section(board: Board, size: int, measure: str, title: str) -> list[str]:
    """Mean ± half of the 95 % interval over the draws; ± is left out where there is one draw."""
    lines = [
        "",
        f"## {f'{size:,}' if size else 'All'} texts: {title}",
        "",
        f"| system | {' | '.join(board.corpora)} | mean |",
        "|---|" + "---:|" * (len(board.corpora) + 1),
    ]
    for system in board.systems:
        values = [board.values(system, corpus, size, measure) for corpus in board.corpora]
        found = board.mean(system, board.corpora, size, measure)
        mean = f"{found.value:.1f}" if found else ""
        lines.append(f"| {system} | {' | '.join(map(with_interval, values))} | {mean} |")
    return lines


def with_interval(values: list[float]) -> str:
    if not values:
        return ""
    if len(values) == 1:
        return f"{values[0]:.1f}"
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.1f} ± {half:.1f}"
