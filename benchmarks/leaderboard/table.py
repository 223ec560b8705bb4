"""results/table.md: accuracy and macro F1 of every system on every corpus, with intervals over the draws."""

from __future__ import annotations

from board import Board, Mean
from cells import SIZES
from score_tables import lacks_draws
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
        values = [cell(board.mean(system, [corpus], size, measure), size) for corpus in board.corpora]
        lines.append(f"| {system} | {' | '.join(values)} | {overall(board, system, size, measure)} |")
    return lines


def cell(one: Mean | None, size: int) -> str:
    return "" if one is None else " ".join([f"{one.value:.1f}", *interval(one), *few(one, size)])


def overall(board: Board, system: str, size: int, measure: str) -> str:
    found = board.mean(system, board.corpora, size, measure)
    return "" if found is None else " ".join([f"{found.value:.1f}", *few(found, size)])


def interval(one: Mean) -> list[str]:
    return [] if one.half is None else [f"± {one.half:.1f}"]


def few(one: Mean, size: int) -> list[str]:
    """How many draws, if not all of them are there."""
    return [f"({one.draws} draw{'s' if one.draws > 1 else ''})"] if lacks_draws(one, size) else []
