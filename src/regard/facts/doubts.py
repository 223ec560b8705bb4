"""What `regard doubts` found in a file of texts and labels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DoubtfulRow:
    """A label and what models say that were not trained on it."""

    row: int  # in the file, the first data row is 1
    text: str
    label: str
    suggested: str  # the likeliest class, or the predicted number
    doubt: float  # one minus the probability of the label; of a number, standardised distance from the prediction
    words: tuple[str, ...] = ()  # those that speak against the label, strongest first

    @property
    def is_disputed(self) -> bool:
        return self.suggested != self.label


@dataclass(frozen=True)
class Contradiction:
    """Two texts that are nearly the same, with different labels."""

    rows: tuple[int, int]
    labels: tuple[str, str]
    texts: tuple[str, str]
    similarity: float


@dataclass(frozen=True)
class NovelText:
    """A text unlike the others."""

    row: int
    text: str
    label: str
    novelty: float


@dataclass(frozen=True)
class NextText:
    """An unlabelled text that is worth labelling."""

    row: int
    text: str
    uncertainty: float
    novelty: float
    prediction: str


@dataclass(frozen=True)
class DoubtFacts:
    data: str
    task: str
    classes: tuple[str, ...]  # empty for numbers
    rows: list[DoubtfulRow]  # all, the most doubtful first
    estimated: float | None  # the number of wrong labels; None for numbers
    contradictions: list[Contradiction]
    novel: list[NovelText]
    next: list[NextText]  # of the pool; empty without one
    pool: str  # its file, "" if there is none

    @property
    def disputed(self) -> list[DoubtfulRow]:
        return [row for row in self.rows if row.is_disputed]
