"""The generated part of docs/norms.md on rating regression: p at the best epoch in the rows of apln/table3, next to apln/table2.

No hypothesis about these cells was registered, so they are described and not judged. The hypotheses of PROTOCOL.md, section 5,
are about classification; its one cell of rating regression is in `formula_blocks`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from regard_lab.claims.formula import Level, make_levels
from regard_lab.claims.table_folder import TableFolder
from regard_lab.comparisons import by_seed

REGRESSION, CLASSIFICATION = "apln/table3", "apln/table2"
COLUMNS = {  # (method, measure) -> title
    ("cnn-apln", "norm"): "CNN",
    ("lstm-apln", "norm"): "LSTM",
    ("han-apln", "norm"): "HAN, words",
    ("han-apln", "norm_sentences"): "HAN, sentences",
}
WORDS = [column for column in COLUMNS if column[1] == "norm"]

Cell = tuple[str, str, str]  # method, measure, corpus


class Side(NamedTuple):
    """How many intervals lie below and above p = 1, of how many, and the smallest and largest mean."""

    below: int
    above: int
    cells: int
    low: float
    high: float


def blocks(folder: TableFolder) -> dict[str, str]:
    return {"regression-norms": "\n".join([*table(folder), "", meaning(folder)])}


def levels(folder: TableFolder, name: str) -> dict[Cell, Level]:
    """p − 1 by cell, corrected over the cells of the table."""
    rows = folder.rows(name)
    values: Mapping[tuple[str, str], Sequence[float]] = {
        ("/".join(column), corpus): [p - 1 for p in by_seed(rows.get((column[0], corpus, ""), ()), column[1]).values()]
        for column in COLUMNS
        for corpus in folder.table(name).corpora
    }
    return {(*pair.split("/"), corpus): level for (pair, corpus), level in make_levels(values).items()}  # type: ignore[misc]


def side_of(found: Mapping[Cell, Level], columns: Sequence[tuple[str, str]]) -> Side:
    """Of single intervals, without a correction, as the sentence on classification counts them."""
    intervals = [level.interval for cell, level in found.items() if cell[:2] in columns]
    means = [1 + interval.mean for interval in intervals]
    below, above = sum(interval.high < 0 for interval in intervals), sum(interval.low > 0 for interval in intervals)
    return Side(below, above, len(intervals), min(means, default=1.0), max(means, default=1.0))


def table(folder: TableFolder) -> Iterator[str]:
    """Regression, and classification of the same corpus below it where there is one."""
    found = {name: levels(folder, name) for name in (REGRESSION, CLASSIFICATION)}
    yield "| corpus | task | " + " | ".join(COLUMNS.values()) + " |"
    yield "|---|---|" + "---:|" * len(COLUMNS)
    for corpus, definition in folder.table(REGRESSION).corpora.items():
        for name, task in ((REGRESSION, "regression"), (CLASSIFICATION, "classification")):
            cells = [words(found[name].get((*column, corpus))) for column in COLUMNS]
            if any(cells):
                yield f"| {definition.title} | {task} | " + " | ".join(cells) + " |"


def words(level: Level | None) -> str:
    if level is None:
        return ""
    text = f"{1 + level.interval.mean:.3f} ± {level.interval.half:.3f} ({level.interval.n})"
    return f"**{text}**" if level.side else text


def summary(folder: TableFolder) -> str:
    """The part of the answer that covers rating regression."""
    side = side_of(levels(folder, REGRESSION), WORDS)
    return (
        f"In rating regression p at the best epoch is between {side.low:.2f} and {side.high:.2f}, on either side of 1: its "
        f"interval lies below 1 in {side.below} and above 1 in {side.above} of {side.cells} combinations"
    )


def meaning(folder: TableFolder) -> str:
    found, other = levels(folder, REGRESSION), levels(folder, CLASSIFICATION)
    of_words, of_sentences = side_of(found, WORDS), side_of(found, [("han-apln", "norm_sentences")])
    both = [(found[cell].interval.mean, other[cell].interval.mean) for cell in found if cell in other]
    lower = sum(one < classified for one, classified in both)
    means = [1 + level.interval.mean for level in found.values()]
    small = sum(abs(math.log(mean)) < folder.book.margin("log_norm", REGRESSION, "", None) for mean in means)
    return (
        f"Over words, {of_words.below} of {of_words.cells} intervals of rating regression lie below 1, {of_words.above} above "
        f"it and {of_words.cells - of_words.below - of_words.above} contain it; over sentences, {of_sentences.below} of "
        f"{of_sentences.cells} lie below it. The means are between {min(means):.3f} and {max(means):.3f}; {small} of "
        f"{len(means)} differ from 1 by less than the protocol's margin (0.05 in log p). In {lower} of {len(both)} "
        "combinations that have both tasks, p is lower in regression than in classification."
    )
