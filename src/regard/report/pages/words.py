"""Words by class, as pages show them: marks, the strongest words of each class, and one table over all types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from regard.facts.analysis import AnalysisFacts, Token
from regard.report.pages.analysis_figures import marks_of
from regard.report.plots.marks import UNTYPED, Mark
from regard.report.text.analysis import WordRow, mean, polarity_for, unit_name
from regard.report.text.characters import one_line
from regard.report.text.exported import Table
from regard.report.text.numbers import column

WORDS = 12  # of each class
FEW = 8  # types that have a button each; more are chosen from a list with a search
OPEN = 6  # with more classes than this, their words are folded
PREVIEW = 4  # words that a folded class shows
PREFIXES = {  # of vocabularies of word pieces, and what they mean
    "Ġ": "Ġ before a piece: it begins a word",
    "▁": "▁ before a piece: it begins a word",
    "##": "## before a piece: it continues a word",
}


@dataclass(frozen=True)
class ClassWords:
    name: str
    mark: Markup
    preview: str
    words: list[WordRow]


@dataclass(frozen=True)
class WordsView:
    """`marks`: of every type by its name; `untyped`: of tokens without a type, empty if there are none."""

    analysis: AnalysisFacts
    classes: list[ClassWords]
    marks: dict[str, Markup]
    untyped: Markup
    types: Table
    drawn: bool
    unit: str
    prefix: str

    @property
    def is_picked(self) -> bool:
        """Whether there are too many types for a button each."""
        return len(self.marks) > FEW

    @property
    def is_open(self) -> bool:
        return len(self.classes) <= OPEN


def words_view(facts: AnalysisFacts) -> WordsView:
    marks = {one_line(name): swatch(mark) for name, mark in marks_of(facts).items()}
    classes = [
        ClassWords(
            one_line(name),
            marks.get(one_line(name), Markup()),
            ", ".join(one_line(word.token) for word in words[:PREVIEW]),
            word_rows(words[:WORDS], facts.classes.index(name)),
        )
        for name, words in facts.words.items()
    ]
    untyped = swatch(UNTYPED) if any(token.type is None for token in facts.tokens) else Markup()
    is_drawn = bool(facts.tokens or facts.recorded)
    unit = unit_name(facts)
    return WordsView(facts, classes, marks, untyped, types_table(facts, unit), is_drawn, unit, prefix(facts.tokens))


def word_rows(words: Sequence[Token], k: int) -> list[WordRow]:
    """Every column with the same decimals."""
    columns = (
        column([polarity_for(word, k) for word in words], "+"),
        column([word.attention for word in words], "+"),
        column([word.weight for word in words], least=3),
    )
    rows = zip(words, *columns, strict=True)
    return [
        WordRow(one_line(word.token), polarity, attention, weight, "–" if word.count is None else f"{word.count:,}")
        for word, polarity, attention, weight in rows
    ]


def types_table(facts: AnalysisFacts, unit: str) -> Table:
    """A row per type: mean scores, and how well attention separates its words from neutral ones."""
    areas = {one.name: one for one in (facts.separation.by_type if facts.separation else ())}
    known = [areas.get(kind.name) for kind in facts.types]
    columns = [
        column([mean(kind.polarity) for kind in facts.types], "+"),
        column([mean(kind.attention) for kind in facts.types], "+"),
        column([mean(kind.weight) for kind in facts.types], least=3),
    ]
    head = ["type", f"{unit}s", "polarity", "attention", "weight"]
    if areas:
        columns += [
            column([None if one is None else one.auc for one in known], least=3),
            column([None if one is None else one.low for one in known], least=3),
            column([None if one is None else one.high for one in known], least=3),
        ]
        head += ["AUC", "from", "to"]
    rows = zip(facts.types, *columns, strict=True)
    named = [(one_line(kind.name), f"{kind.count:,}", *numbers) for kind, *numbers in rows]
    return Table("Types of tokens and their mean scores", tuple(head), named)


def swatch(mark: Mark) -> Markup:
    path = f'<path d="{mark.path(7, 7, 5)}" fill="{mark.colour}"/>'
    return Markup(f'<svg class="swatch" width="14" height="14" aria-hidden="true">{path}</svg>')


def prefix(tokens: Sequence[Token]) -> str:
    """The meaning of the sign before some word pieces; "" if none has one."""
    return next(
        (meaning for sign, meaning in PREFIXES.items() if any(one.token.startswith(sign) for one in tokens)), ""
    )
