"""A table as words, before any format: rows of methods, columns of corpora × measures, comparisons, sources."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from regard_lab.comparisons import Comparison


@dataclass(frozen=True)
class Column:
    corpus: str
    measure: str
    corpus_title: str
    measure_title: str
    printed: bool  # whether the paper prints some number of it
    published: bool  # whether published results have some

    def width(self) -> int:
        """How many columns of a format it takes."""
        return 1 + self.printed + self.published


@dataclass(frozen=True)
class Entry:
    """What stands in one place of the table."""

    ours: str  # "62.96 ± 0.80", or "" where there is no cell
    note: str = ""  # fewer seeds than elsewhere, failures
    paper: str = ""
    published: str = ""
    best: bool = False


@dataclass(frozen=True)
class Line:
    title: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Sheet:
    name: str
    title: str
    where: str
    caption: str
    note: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    comparisons: tuple[Comparison, ...]
    sources: tuple[tuple[str, str], ...]  # what, and of it
    remarks: tuple[str, ...]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """The heads of corpora, and how many columns each stands over."""
        several = (list(group) for _, group in groupby(self.columns, key=lambda column: column.corpus))
        return [(group[0].corpus_title, sum(map(Column.width, group))) for group in several]
