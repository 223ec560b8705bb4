"""The bodies of responses, as types. Their keys are described in openapi.json."""

from __future__ import annotations

from typing import Required, TypedDict

from regard.records import PredictionRow, ReadAs


class UnitRow(TypedDict):
    """A sentence or a part of a text."""

    start: int
    end: int
    score: float | None  # None: no finite score


class WordRow(UnitRow):
    text: str
    known: bool
    contribution: float | None  # to the log-odds of the target, negative if the word is against it
    weight: float | None
    read_as: ReadAs | None


class StrongWordRow(TypedDict):
    """A word for or against the target; one that a text has several times is listed once."""

    text: str
    tokens: list[int]  # its occurrences among the words that the model read
    contribution: float
    mark: str  # how the model reads it, if not as a word


StrongestRow = dict[str, list[StrongWordRow]]  # "for" and "against"


class ExplainedRow(PredictionRow, total=False):
    """A text with the scores of its words."""

    before: PredictionRow  # with the words that are crossed out
    target: Required[str | None]  # the class that scores are about; None for a regression
    tokens: Required[list[WordRow]]
    without: Required[list[int]]  # the words that are crossed out
    unread: Required[int]  # words beyond what the model reads
    sentences: Required[list[UnitRow]]
    parts: Required[list[UnitRow]]
    cost: Required[dict[str, float]]
    facts: Required[dict[str, str | float | None]]
    contribution_method: Required[str | None]
    strong: Required[float]  # the size from which a contribution is drawn at full strength
    strongest: Required[StrongestRow]
    note: Required[str]  # a caution if the model knows few words of the text, or ""


class ComparedRow(ExplainedRow):
    run: str


class Agreement(TypedDict):
    tau: float | None
    divergence: float | None


class PredictAnswer(TypedDict):
    run: str
    results: list[PredictionRow]


class ExplainAnswer(TypedDict):
    run: str
    method: str
    signed: bool
    results: list[ExplainedRow]


class CompareAnswer(TypedDict):
    method: str
    signed: bool
    agreement: Agreement
    results: list[ComparedRow]


class TableRow(TypedDict, total=False):
    """With a prediction, or with an error."""

    row: Required[int]
    fields: Required[list[str]]
    prediction: str | float
    probabilities: dict[str, float]
    label: str | float
    error: str


class TableAnswer(TypedDict):
    run: str
    columns: list[str]
    text_column: str
    label_column: str | None
    bad_rows: int
    labelled: int
    right: int
    rows: list[TableRow]


class RunDescription(TypedDict):
    name: str
    model: str
    levels: int
    task: str
    classes: list[str]  # empty for a regression
    max_words: int | None
    methods: list[str]
    default_method: str  # of weights
    default_contribution: str  # of signed contributions


class MethodDescription(TypedDict):
    name: str
    title: str
    sentence: str
    signed: bool
    control: bool
