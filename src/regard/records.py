"""Plain records around the tensors: examples going in, predictions and explanations coming out, and their JSONL form."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import NotRequired, Required, SupportsIndex, TypedDict, cast, overload

from regard.scored_tokens import ReadAs, TokenRow, Tokens, TokenScore, token_rows

__all__ = [
    "Example",
    "Explanation",
    "ExplanationRow",
    "Explanations",
    "Label",
    "Prediction",
    "PredictionRow",
    "ReadAs",
    "RepeatedRow",
    "RepeatedWord",
    "SentenceRow",
    "SentenceScore",
    "Span",
    "TokenRow",
    "TokenScore",
    "Tokens",
    "TopWords",
]

Label = str | float | tuple[str, ...]  # a class, a number, or several labels
Span = tuple[int, int]  # characters [start, end) of the text
FASTTEXT_PREFIX = "__label__"  # what labels begin with in fastText's files


@dataclass(frozen=True, slots=True)
class Example:
    """One text of a corpus, with its row in the file (the first data row is 1)."""

    text: str
    label: Label | None = None  # None: unknown; an empty tuple: no label applies
    row: int = 0
    evidence: tuple[Span, ...] = ()  # spans of the words that decide the label, if known
    kept: Mapping[str, object] | None = None  # other columns of the row that the caller asked to keep
    error: str | None = None  # why the row cannot be used, if bad rows are marked instead of refused
    weight: float = 1.0  # how much the text counts in training


@dataclass(frozen=True, slots=True)
class SentenceScore:
    """A sentence (or a part) of a text: its weight, where those of a text's sentences sum to 1, and its contribution."""

    start: int
    end: int
    weight: float
    contribution: float | None = None


@dataclass(frozen=True, slots=True)
class RepeatedWord:
    """A word that a text has several times: what happens without all of them is not the sum of the single contributions."""

    text: str
    tokens: tuple[int, ...]  # which words of the text
    contribution: float


class PredictionRow(TypedDict, total=False):
    """The JSON form of a prediction."""

    prediction: Required[str | float | list[str]]
    probabilities: dict[str, float]
    novelty: float


class SentenceRow(TypedDict):
    start: int
    end: int
    weight: float
    contribution: NotRequired[float]


class RepeatedRow(TypedDict):
    text: str
    tokens: list[int]
    contribution: float


class ExplanationRow(PredictionRow, total=False):
    """The JSON form of an explanation."""

    text: Required[str]
    method: Required[str]
    label: str | float | list[str]
    tokens: Required[list[TokenRow]]
    sentences: list[SentenceRow]
    parts: list[SentenceRow]
    contribution_method: str
    target: str
    repeated: list[RepeatedRow]
    strong: float
    note: str


@dataclass(frozen=True)
class Prediction:
    """A class with the probabilities of all classes, or the labels that apply with those of all labels, or a number.

    From an estimator, the class has the Python type of the training labels; in JSON it is always a string.
    """

    value: Label
    probabilities: Mapping[str, float]  # empty for regression; those of several labels do not sum to 1
    novelty: float | None = None  # how little the text resembles training, from 0 to 1; None if that was not asked for

    def as_dict(self) -> PredictionRow:
        row: PredictionRow = {"prediction": json_label(self.value if not self.probabilities else self.named)}
        if self.probabilities:
            row["probabilities"] = dict(self.probabilities)
        if self.novelty is not None:
            row["novelty"] = self.novelty
        return row

    @property
    def named(self) -> str | tuple[str, ...]:
        """The class, or the labels, as strings."""
        return tuple(map(str, self.value)) if isinstance(self.value, tuple) else str(self.value)

    @property
    def only_name(self) -> str | None:
        """The class, or the label if there is exactly one, as a string."""
        named = self.named
        return named if isinstance(named, str) else named[0] if len(named) == 1 else None


def json_label(value: Label) -> str | float | list[str]:
    """As JSON has it: labels as a list."""
    return list(value) if isinstance(value, tuple) else value


def from_json_label(value: str | float | list[str]) -> Label:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True)
class Explanation:
    """A text, its prediction, and its words with their weights and contributions; of a model that reads sentences, these too."""

    text: str
    prediction: Prediction
    tokens: Sequence[TokenScore]  # a tuple, or `Tokens`, which equals one
    sentences: tuple[SentenceScore, ...] = ()  # empty for a flat model
    method: str = "attention"  # what the weights are
    label: Label | None = None  # the true label, if known
    parts: tuple[SentenceScore, ...] = ()  # only with three levels; sentence weights are then shares of the whole text
    contribution_method: str | None = None  # what the contributions are; None if there are none
    target: str | None = None  # the class that contributions are about; None for a regression
    repeated: tuple[RepeatedWord, ...] = ()
    strong: float = 1.0  # the size from which a contribution is drawn at full strength

    def as_dict(self) -> ExplanationRow:
        return cast(ExplanationRow, {**self.before_tokens(), "tokens": token_rows(self.tokens), **self.after_tokens()})

    def before_tokens(self) -> dict[str, object]:
        """The fields of `as_dict` up to the words."""
        row: dict[str, object] = {"text": self.text, **self.prediction.as_dict(), "method": self.method}
        if self.contribution_method is not None:
            row["contribution_method"] = self.contribution_method
        if self.target is not None:
            row["target"] = self.target
        if self.label is not None:
            row["label"] = json_label(self.label)
        return row

    def after_tokens(self) -> dict[str, object]:
        row: dict[str, object] = {}
        if self.repeated:
            row["repeated"] = [
                {"text": x.text, "tokens": [*x.tokens], "contribution": x.contribution} for x in self.repeated
            ]
        if self.sentences:
            row["sentences"] = sentence_rows(self.sentences)
        if self.parts:
            row["parts"] = sentence_rows(self.parts)
        if self.strong != 1.0:
            row["strong"] = self.strong
        if note := self.note:
            row["note"] = note
        return row

    @classmethod
    def from_dict(cls, row: ExplanationRow) -> Explanation:
        repeated = row.get("repeated", ())
        return cls(
            text=row["text"],
            prediction=Prediction(from_json_label(row["prediction"]), row.get("probabilities", {})),
            tokens=tuple(TokenScore(**token) for token in row["tokens"]),
            sentences=tuple(SentenceScore(**sentence) for sentence in row.get("sentences", ())),
            method=row["method"],
            label=from_json_label(row["label"]) if "label" in row else None,
            parts=tuple(SentenceScore(**part) for part in row.get("parts", ())),
            contribution_method=row.get("contribution_method"),
            target=row.get("target"),
            repeated=tuple(RepeatedWord(x["text"], tuple(x["tokens"]), x["contribution"]) for x in repeated),
            strong=row.get("strong", 1.0),
        )

    @property
    def is_signed(self) -> bool:
        return self.contribution_method is not None

    @property
    def note(self) -> str:
        """A caution if the model knows few words of the text, or none; otherwise ""."""
        if isinstance(self.tokens, Tokens) and self.tokens.are_mostly_known():
            return ""
        has_vector = [token.known or token.read_as == "beginning" for token in self.tokens]
        if self.tokens and not any(has_vector):
            return "no word of this text is known to the model; this is its default answer"
        words = [known for token, known in zip(self.tokens, has_vector, strict=True) if not is_punctuation(token.text)]
        if words and not any(words):
            return "no word of this text is known to the model, only its punctuation"
        if 2 * sum(words) < len(words):
            return f"only {sum(words)} of {len(words)} words are known to the model"
        return ""

    def top(self, count: int = 5) -> list[TokenScore]:
        """The words with the largest contributions, largest first; by weight if there are no contributions."""
        return sorted(self.tokens, key=lambda x: -(x.weight if x.contribution is None else x.contribution))[:count]

    def _repr_html_(self) -> str:
        """For notebooks. Records know nothing else about pages, which is why the module is named by a string."""
        html: str = import_module("regard.report.pages.explanations").fragment(self)
        return html


@dataclass(frozen=True, slots=True)
class TopWords:
    """The words of a text that matter most, and the prediction that they are about."""

    prediction: Prediction
    target: str | None  # the class that contributions are about; None for a regression
    words: tuple[tuple[str, float], ...]  # each with its contribution, the largest first, whatever its sign


def is_punctuation(text: str) -> bool:
    """Whether a word is one punctuation mark, perhaps repeated; several different ones may be an emoticon."""
    return len(set(text)) == 1 and unicodedata.category(text[0])[0] == "P"


class Explanations(list[Explanation]):
    """A list of explanations that draws itself in a notebook, and so do its slices."""

    @overload
    def __getitem__(self, index: SupportsIndex) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Explanations: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Explanation | Explanations:
        return Explanations(super().__getitem__(index)) if isinstance(index, slice) else super().__getitem__(index)

    def _repr_html_(self) -> str:
        return "\n<hr>\n".join(one._repr_html_() for one in self)


def sentence_rows(scores: Iterable[SentenceScore]) -> list[SentenceRow]:
    rows: list[SentenceRow] = []
    for score in scores:
        row: SentenceRow = {"start": score.start, "end": score.end, "weight": score.weight}
        if score.contribution is not None:
            row["contribution"] = score.contribution
        rows.append(row)
    return rows


def to_jsonl(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """One JSON line per record, without the newline; non-ASCII text is not escaped."""
    for row in rows:
        yield json.dumps(row, ensure_ascii=False)
