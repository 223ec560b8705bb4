"""Explanations as one self-contained HTML document, or as a fragment.

A page of few texts has no script; more are filtered, and drawn a page at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.explain.explainers import explainer_title
from regard.records import Explanation, TokenScore
from regard.report.pages.filters import READER, Filters
from regard.report.pages.templates import render, templates
from regard.report.text.answers import Answer, ClassProbability, answer, class_probabilities, index_of, tally
from regard.report.text.characters import one_line
from regard.report.text.highlights import Row, concentration, rows, top_words
from regard.report.text.strongest_words import StrongWord, for_whom, nothing_strong, strongest_words

FEW = 10  # texts that need no filters


@dataclass(frozen=True)
class ExplainedText:
    answer: Answer
    probabilities: list[ClassProbability]
    more: int  # classes that are less likely
    rows: list[Row]
    sentences: bool
    tokens: Sequence[TokenScore]
    method: str
    is_signed: bool
    is_number: bool  # a regression
    top: list[tuple[str, str]]
    concentration: str
    note: str  # a caution about unknown words, or ""
    target: str  # the class that contributions are about, if not the predicted one
    signed: list[
        tuple[str, list[StrongWord]]
    ]  # titles and strongest words for and against; empty without contributions
    nothing_strong: str = ""  # a sentence if no word contributes much
    run: str = ""  # the name of the model, if there are several
    classes: tuple[str, ...] = ()
    actual: int | str = ""  # the index of the true class, or those of the true labels; "" if there is none
    predicted: int | str = ""  # likewise

    @property
    def correct(self) -> str:
        return {True: "yes", False: "no", None: ""}[self.answer.right]


@dataclass(frozen=True)
class Tally:
    run: str
    judged: int  # answers whose truth is known
    wrong: list[int]  # numbers of the texts


@dataclass(frozen=True)
class ExplanationsView:
    title: str
    texts: list[list[ExplainedText]]  # one per model
    tallies: list[Tally]  # one per model
    hierarchical: bool
    signed: bool
    numbers: bool  # of a regression
    filters: Filters | None  # None for few texts


def page(explanations: Sequence[Explanation], title: str) -> str:
    """The whole document; write it as UTF-8."""
    return page_of_models([[explanation] for explanation in explanations], title, [""])


def page_of_models(explanations: Sequence[Sequence[Explanation]], title: str, runs: Sequence[str]) -> str:
    """The same for several models, side by side: each text has one explanation per model of `runs`."""
    texts = [[view_of(one, run) for one, run in zip(items, runs, strict=True)] for items in explanations]
    tallies = [Tally(run, *tally([text[index].answer for text in texts])) for index, run in enumerate(runs)]
    views = [view for text in texts for view in text]
    hierarchical, signed = any(view.sentences for view in views), any(view.is_signed for view in views)
    numbers = any(view.is_number for view in views)
    filters = filters_of(texts, tallies) if len(texts) > FEW else None
    view = ExplanationsView(title, texts, tallies, hierarchical, signed, numbers, filters)
    return render("explanations.html", view, (READER,) if filters else ())


def filters_of(texts: Sequence[Sequence[ExplainedText]], tallies: Sequence[Tally]) -> Filters:
    """By the answers of a single model; the texts of several can only be searched."""
    classes = texts[0][0].classes if len(tallies) == 1 else ()
    return Filters(bool(tallies[0].judged), classes, len(tallies[0].wrong), {})


def fragment(explanation: Explanation) -> str:
    """One explanation with inline styles, for `_repr_html_`; text and background colours are those of the notebook."""
    return templates().get_template("fragment.html").render(text=view_of(explanation))


def view_of(explanation: Explanation, run: str = "") -> ExplainedText:
    method, target = explainer_title(explanation.method), explanation.target
    if explanation.contribution_method is not None:
        method = f"{explainer_title(explanation.contribution_method)}; weights: {method}"
    words = zip(for_whom(explanation), strongest_words(explanation), strict=True)
    classes = tuple(explanation.prediction.probabilities)
    return ExplainedText(
        answer(explanation),
        *class_probabilities(explanation),
        rows(explanation),
        bool(explanation.sentences),
        explanation.tokens,
        method,
        explanation.is_signed,
        isinstance(explanation.prediction.value, (int, float)) and not explanation.prediction.probabilities,
        top_words(explanation),
        concentration(explanation),
        explanation.note,
        target if target is not None and target != explanation.prediction.only_name else "",
        [(title, listed) for title, listed in words if listed],
        nothing_strong(explanation),
        one_line(run),
        classes,
        index_of(explanation.label, classes),
        index_of(explanation.prediction.value, classes),
    )
