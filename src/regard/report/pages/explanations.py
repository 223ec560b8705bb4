"""Explanations as one self-contained HTML document (no scripts, fonts or links), or as a fragment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.explain.explainers import explainer_title
from regard.records import Explanation, TokenScore
from regard.report.pages.templates import render, templates
from regard.report.text.answers import Answer, ClassProbability, answer, class_probabilities, tally
from regard.report.text.highlights import Row, concentration, rows, top_words


@dataclass(frozen=True)
class ExplainedText:
    answer: Answer
    probabilities: list[ClassProbability]
    more: int  # classes that are less likely
    rows: list[Row]
    sentences: bool
    tokens: tuple[TokenScore, ...]
    method: str
    top: list[tuple[str, str]]
    concentration: str


@dataclass(frozen=True)
class ExplanationsView:
    title: str
    texts: list[ExplainedText]
    judged: int  # answers whose truth is known
    wrong: list[int]  # numbers of the texts
    hierarchical: bool


def page(explanations: Sequence[Explanation], title: str) -> str:
    """The whole document; write it as UTF-8."""
    texts = [view_of(explanation) for explanation in explanations]
    judged, wrong = tally([text.answer for text in texts])
    hierarchical = any(text.sentences for text in texts)
    return render("explanations.html", ExplanationsView(title, texts, judged, wrong, hierarchical))


def fragment(explanation: Explanation) -> str:
    """One explanation with inline styles, for `_repr_html_`; text and background colours are those of the notebook."""
    return templates().get_template("fragment.html").render(text=view_of(explanation))


def view_of(explanation: Explanation) -> ExplainedText:
    return ExplainedText(
        answer(explanation),
        *class_probabilities(explanation),
        rows(explanation),
        bool(explanation.sentences),
        explanation.tokens,
        explainer_title(explanation.method),
        top_words(explanation),
        concentration(explanation),
    )
