"""The tables of scores: all systems, one corpus, and systems that lack corpora beside the others on what they have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from board import Board, Mean
from cells import DRAWS, OTHERS, SIZES
from page_tables import texts_of

MEASURES = {"accuracy": "accuracy", "macro_f": "macro F1"}


class Entry(NamedTuple):
    text: str
    interval: str
    is_best: bool


class ScoreTable(NamedTuple):
    title: str
    note: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Entry, ...]], ...]


def score_table(board: Board, systems: Sequence[str], corpora: Sequence[str], title: str) -> ScoreTable:
    columns = [(measure, size) for measure in MEASURES for size in SIZES]
    means = {name: [board.mean(name, corpora, size, measure) for measure, size in columns] for name in systems}
    best = [max((one.value for row in means.values() if (one := row[k])), default=0.0) for k in range(len(columns))]
    rows = tuple(
        (name, tuple(entry(one, best[k], lacks_draws(one, columns[k][1])) for k, one in enumerate(row)))
        for name, row in means.items()
        if any(row)
    )
    head = tuple(f"{MEASURES[measure]}, {f'{size:,}' if size else 'all'}" for measure, size in columns)
    note = "" if len(corpora) > 1 else "held back" if corpora[0] in OTHERS else "development"
    return ScoreTable(title, note, ("system", *head), rows)


def part_tables(board: Board) -> list[ScoreTable]:
    """One for all systems that lack the same corpora of a size."""
    parts: dict[tuple[int, tuple[str, ...], frozenset[int]], list[str]] = defaultdict(list)
    for size in SIZES:
        for name in board.untuned:
            corpora, draws = board.part(name, size)
            if 0 < len(corpora) < len(board.corpora):
                parts[size, corpora, draws].append(name)
    return [part_table(board, size, corpora, draws, names) for (size, corpora, draws), names in parts.items()]


def part_table(
    board: Board, size: int, corpora: tuple[str, ...], draws: frozenset[int], names: Sequence[str]
) -> ScoreTable:
    """All untuned systems on these corpora and draws."""
    means = {name: [board.mean(name, corpora, size, measure, draws) for measure in MEASURES] for name in board.untuned}
    complete = {name: row for name, row in means.items() if all(row)}
    best = [max((one.value for row in complete.values() if (one := row[k])), default=0.0) for k in range(len(MEASURES))]
    rows = tuple((name, tuple(entry(one, best[k]) for k, one in enumerate(row))) for name, row in complete.items())
    title = f"{texts_of(size).capitalize()}, the corpora of {' and '.join(names)}"
    note = f"{', '.join(corpora)}; draw{'s' if len(draws) > 1 else ''} {', '.join(map(str, sorted(draws)))}"
    return ScoreTable(title, note, ("system", *MEASURES.values()), rows)


def entry(one: Mean | None, best: float, is_marked: bool = False) -> Entry:
    """`is_marked`: with the number of draws."""
    if one is None:
        return Entry("–", "", False)
    remarks = [
        *([] if one.half is None else [f"± {one.half:.1f}"]),
        *([f"{one.draws} draw{'s' if one.draws > 1 else ''}"] if is_marked else []),
    ]
    return Entry(f"{one.value:.1f}", ", ".join(remarks), f"{one.value:.1f}" == f"{best:.1f}")


def lacks_draws(one: Mean | None, size: int) -> bool:
    """With all texts one draw is complete for a system without randomness."""
    return one is not None and one.draws < DRAWS and (size > 0 or one.draws > 1)
