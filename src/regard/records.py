"""Plain records around the tensors: examples going in, predictions and explanations coming out, and their JSONL form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Required, TypedDict, cast

Span = tuple[int, int]  # characters [start, end) of the text


@dataclass(frozen=True, slots=True)
class Example:
    """One text of a corpus, with its row in the file (the first data row is 1)."""

    text: str
    label: str | float | None = None
    row: int = 0
    evidence: tuple[Span, ...] = ()  # spans of the words that decide the label, if known
    kept: Mapping[str, object] | None = None  # other columns of the row that the caller asked to keep


@dataclass(frozen=True, slots=True)
class TokenScore:
    """A word of a text and its weight; the weights of a text's words sum to 1."""

    text: str
    start: int
    end: int
    weight: float
    known: bool = True  # False if the model has no vector for this word


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """A sentence (or a part) of a text and its weight; the weights of a text's sentences sum to 1."""

    start: int
    end: int
    weight: float


class PredictionRow(TypedDict, total=False):
    """The JSON form of a prediction."""

    prediction: Required[str | float]
    probabilities: dict[str, float]


class TokenRow(TypedDict):
    text: str
    start: int
    end: int
    weight: float
    known: bool


class SentenceRow(TypedDict):
    start: int
    end: int
    weight: float


class ExplanationRow(PredictionRow, total=False):
    """The JSON form of an explanation."""

    text: Required[str]
    method: Required[str]
    label: str | float
    tokens: Required[list[TokenRow]]
    sentences: list[SentenceRow]
    parts: list[SentenceRow]


@dataclass(frozen=True)
class Prediction:
    """A class with the probabilities of all classes, or a number."""

    value: str | float
    probabilities: Mapping[str, float]  # empty for regression

    def as_dict(self) -> PredictionRow:
        row: PredictionRow = {"prediction": self.value}
        if self.probabilities:
            row["probabilities"] = dict(self.probabilities)
        return row


@dataclass(frozen=True)
class Explanation:
    """A text, its prediction, and the weight of each word; of each sentence too, if the model reads sentences."""

    text: str
    prediction: Prediction
    tokens: tuple[TokenScore, ...]
    sentences: tuple[SentenceScore, ...] = ()  # empty for a flat model
    method: str = "attention"
    label: str | float | None = None  # the true label, if known
    parts: tuple[SentenceScore, ...] = ()  # only with three levels; sentence weights are then shares of the whole text

    def as_dict(self) -> ExplanationRow:
        row = cast(ExplanationRow, {"text": self.text, **self.prediction.as_dict(), "method": self.method})
        if self.label is not None:
            row["label"] = self.label
        # spelled out because `dataclasses.asdict` takes five times as long, and there is one of these per word
        row["tokens"] = [
            {"text": x.text, "start": x.start, "end": x.end, "weight": x.weight, "known": x.known} for x in self.tokens
        ]
        if self.sentences:
            row["sentences"] = sentence_rows(self.sentences)
        if self.parts:
            row["parts"] = sentence_rows(self.parts)
        return row

    @classmethod
    def from_dict(cls, row: ExplanationRow) -> Explanation:
        return cls(
            text=row["text"],
            prediction=Prediction(row["prediction"], row.get("probabilities", {})),
            tokens=tuple(TokenScore(**token) for token in row["tokens"]),
            sentences=tuple(SentenceScore(**sentence) for sentence in row.get("sentences", ())),
            method=row["method"],
            label=row.get("label"),
            parts=tuple(SentenceScore(**part) for part in row.get("parts", ())),
        )

    def top(self, count: int = 5) -> list[TokenScore]:
        """The words with the largest weights, largest first."""
        return sorted(self.tokens, key=lambda token: -token.weight)[:count]


def sentence_rows(scores: Iterable[SentenceScore]) -> list[SentenceRow]:
    return [{"start": x.start, "end": x.end, "weight": x.weight} for x in scores]


def to_jsonl(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """One JSON line per record, without the newline; non-ASCII text is not escaped."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=False)
