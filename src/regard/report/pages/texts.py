"""Texts for a page: their words shaded by every explainer, and which words count against the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from regard.facts.run import ShownText, TextView
from regard.records import Explanation
from regard.report.names import explainer_name
from regard.report.pages.filters import Filters
from regard.report.text.answers import Answer, ClassProbability, answer, class_probabilities, index_of
from regard.report.text.highlights import Row, rows, top_words
from regard.report.text.strongest_words import StrongWord, for_whom, nothing_strong, strongest_words


@dataclass(frozen=True)
class ReaderView:
    """One explanation of a text."""

    method: str
    name: str
    signed: bool
    rows: list[Row]
    against: frozenset[int]  # starts of words that count against the prediction
    sentences: bool
    sentences_against: set[int]  # numbers of rows
    top: list[tuple[str, str]]
    strongest: list[tuple[str, list[StrongWord]]]  # words for and against the target; empty without contributions
    nothing_strong: str
    note: str


@dataclass(frozen=True)
class ReaderText:
    """`predicted` and `true` are indices of classes, "" if there is none; `right` is "yes", "no" or ""."""

    place: str
    answer: Answer
    probabilities: list[ClassProbability]
    more: int  # classes that are less likely
    right: str
    predicted: int | str
    true: int | str
    views: list[ReaderView]


@dataclass(frozen=True)
class Reading:
    """What the reader of a page shows. `labelled`: some text has a label."""

    texts: list[ReaderText]
    texts_in_all: int
    classes: Sequence[str]
    labelled: bool

    @property
    def filters(self) -> Filters:
        wrong = sum(text.right == "no" for text in self.texts)
        methods = {view.method: view.name for text in self.texts for view in text.views}
        return Filters(self.labelled, self.classes, wrong, methods)

    @property
    def with_sign(self) -> list[str]:
        return list(dict.fromkeys(view.name for text in self.texts for view in text.views if view.signed))

    @property
    def contributions(self) -> bool:
        """Whether words are shaded by contribution."""
        return any(view.strongest or view.nothing_strong for text in self.texts for view in text.views)

    @property
    def unknown(self) -> bool:
        """Whether some word is unknown to the model."""
        views = (view for text in self.texts for view in text.views)
        return any(not piece.known for view in views for row in view.rows for piece in row.pieces)


def reading(texts: Sequence[ShownText], texts_in_all: int, classes: Sequence[str], labelled: bool) -> Reading:
    return Reading([reader_text(text, list(classes)) for text in texts], texts_in_all, classes, labelled)


def reader_text(text: ShownText, classes: list[str]) -> ReaderText:
    """The prediction is that of the first view."""
    first = replace(text.views[0].explanation, label=text.label)
    return ReaderText(
        text.place,
        answer(first),
        *class_probabilities(first),
        {True: "no", False: "yes", None: ""}[text.mistake],
        index_of(first.prediction.value, classes),
        index_of(text.label, classes),
        [reader_view(view) for view in text.views],
    )


def reader_view(view: TextView) -> ReaderView:
    explanation, against = view.explanation, frozenset(view.against or ())
    method = explanation.contribution_method or explanation.method
    words = zip(for_whom(explanation), strongest_words(explanation), strict=True)
    return ReaderView(
        method,
        explainer_name(method) + (f"; weights: {explainer_name(explanation.method)}" if explanation.is_signed else ""),
        explanation.is_signed or view.against is not None,
        rows(explanation),
        against,
        bool(explanation.sentences),
        against_rows(explanation, view.sentences_against),
        [] if explanation.is_signed else largest(explanation, against),
        [(title, listed) for title, listed in words if listed],
        nothing_strong(explanation),
        explanation.note,
    )


def largest(explanation: Explanation, against: frozenset[int], count: int = 8) -> list[tuple[str, str]]:
    """The heaviest words and their weights as text, with a minus for those against the prediction."""
    signs = ["−" if token.start in against else "" for token in explanation.top(count)]
    return [(word, sign + weight) for (word, weight), sign in zip(top_words(explanation, count), signs, strict=False)]


def against_rows(explanation: Explanation, against: Sequence[int]) -> set[int]:
    """Numbers of the rows whose sentence counts against the prediction; a row begins where its sentence does."""
    if explanation.is_signed:
        return {number for number, row in enumerate(rows(explanation)) if row.against}
    numbers, at = set(), 0
    for number, row in enumerate(rows(explanation)):
        length = sum(len(piece.text) for piece in row.pieces) + len(row.tail)
        if row.weight is not None and any(at <= start < at + length for start in against):
            numbers.add(number)
        at += length
    return numbers
