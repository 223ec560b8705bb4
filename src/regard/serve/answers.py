"""The bodies of responses, as types. The OpenAPI description is made from them, with the descriptions of their keys."""

from __future__ import annotations

from typing import Annotated, Required, TypedDict

from msgspec import Meta

from regard.records import PredictionRow, ReadAs

Signed = Annotated[bool, Meta(description="Whether negative scores are evidence against the target.")]


class UnitRow(TypedDict):
    """A sentence or a part of a text."""

    start: Annotated[int, Meta(description="Offset in characters (code points) of the text.")]
    end: int
    score: Annotated[
        float | None, Meta(description="null if it is crossed out, beyond what the model reads, or not finite.")
    ]


class WordRow(UnitRow):
    text: str
    known: Annotated[bool, Meta(description="false if the model has no vector for this word.")]
    contribution: Annotated[
        float | None,
        Meta(
            description="The drop of the target's log-odds (of a regression: of the number) without the word; negative if "
            "it is against the target."
        ),
    ]
    weight: Annotated[
        float | None, Meta(description="The share of the model's attention; the weights of a text sum to 1.")
    ]
    read_as: Annotated[
        ReadAs | None,
        Meta(
            description="How the model reads the word: as itself, by its beginning only, as an unknown word, or not at all."
        ),
    ]


class StrongWordRow(TypedDict):
    """A word for or against the target; one that a text has several times is listed once."""

    text: str
    tokens: Annotated[list[int], Meta(description="Its occurrences among the words that the model read.")]
    contribution: float
    mark: Annotated[str, Meta(description="How the model reads it, if not as a word.")]


StrongestRow = dict[str, list[StrongWordRow]]  # "for" and "against"


class ExplainedRow(PredictionRow, total=False):
    """A text with the scores of its words."""

    before: Annotated[PredictionRow, Meta(description="The prediction for the whole text, if words are crossed out.")]
    target: Required[Annotated[str | None, Meta(description="The class that scores are about; null for a regression.")]]
    tokens: Required[list[WordRow]]
    without: Required[Annotated[list[int], Meta(description="The numbers of the words that are crossed out.")]]
    unread: Required[Annotated[int, Meta(description="The number of words beyond what the model reads.")]]
    sentences: Required[list[UnitRow]]
    parts: Required[list[UnitRow]]
    cost: Required[Annotated[dict[str, float], Meta(description="Passes forward and backward, and seconds.")]]
    facts: Required[
        Annotated[
            dict[str, str | float | None],
            Meta(description="What the explainer reports about its work, such as its error."),
        ]
    ]
    contribution_method: Required[
        Annotated[str | None, Meta(description="The explainer that the contributions come from.")]
    ]
    strong: Required[
        Annotated[float, Meta(description="The size from which a contribution is drawn at full strength.")]
    ]
    strongest: Required[
        Annotated[
            StrongestRow,
            Meta(
                description="The strongest words for and against the target; repeated words are listed once, with their "
                "joint contribution."
            ),
        ]
    ]
    note: Required[
        Annotated[
            str, Meta(description="A caution if the model knows few words of the text, or none; otherwise empty.")
        ]
    ]


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
    signed: Signed
    results: list[ExplainedRow]


class CompareAnswer(TypedDict):
    method: str
    signed: Signed
    agreement: Annotated[
        Agreement,
        Meta(description="Kendall's τ-b and the Jensen–Shannon divergence of the two runs' word scores."),
    ]
    results: list[ComparedRow]


class TableRow(TypedDict, total=False):
    """With a prediction, or with an error."""

    row: Required[int]
    fields: Required[list[str]]
    prediction: str | float | list[str]
    probabilities: dict[str, float]
    novelty: float
    label: str | float | list[str]
    error: Annotated[str, Meta(description="Why this row has no prediction.")]


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


class StartDescription(TypedDict):
    method: str | None
    target: str | None


class FactsAnswer(TypedDict):
    version: str
    runs: list[RunDescription]
    methods: list[MethodDescription]
    start: Annotated[StartDescription, Meta(description="The method and the target selected when the page opens.")]


class HealthAnswer(TypedDict):
    status: Annotated[str, Meta(description="ready, once the models are loaded.")]
