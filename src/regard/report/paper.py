"""Explained texts as figures of a paper: what the PDF, the image and the LaTeX document of heat maps have in common."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.records import Explanation
from regard.report.pages.explanations import ExplainedText, view_of
from regard.report.text.answers import Answer
from regard.report.text.characters import direction, one_line
from regard.report.text.highlights import Piece, Row

LONGEST = 30  # characters of a word that are kept on one line
_SPACE = re.compile(r"\s+")
_LONG = re.compile(rf"\S{{{LONGEST}}}(?=\S)")


@dataclass(frozen=True)
class Legend:
    """The meaning of the colours, as words; "" where a mark does not occur."""

    most: str  # the end of the orange ramp
    least: str  # the end of the blue ramp, or of the orange one without contributions
    signed: bool
    scale: str
    unknown: str
    bar: str


@dataclass(frozen=True)
class Paper:
    title: str
    texts: list[list[ExplainedText]]  # one per model
    legend: Legend


def paper(explanations: Sequence[Sequence[Explanation]], title: str, runs: Sequence[str]) -> Paper:
    """Each text has one explanation per model of `runs`; the names of models are shown if there are several."""
    names = runs if len(runs) > 1 else [""] * len(runs)
    texts = [[view_of(one, run) for one, run in zip(items, names, strict=True)] for items in explanations]
    return Paper(one_line(title), texts, legend([one for items in explanations for one in items], texts))


def legend(explanations: Sequence[Explanation], texts: Sequence[Sequence[ExplainedText]]) -> Legend:
    views = [view for text in texts for view in text]
    signed, numbers = any(view.is_signed for view in views), any(view.is_number for view in views)
    unknown = any(not token.known for view in views for token in view.tokens)
    if numbers:
        most, least = "raises the number", "lowers it"
        change = "the number changes by half a standard deviation of the training labels"
    else:
        targets = {one.target for one in explanations}
        target = one_line(next(iter(targets))) if len(targets) == 1 and None not in targets else "the answer"
        most, least = f"for {target}", f"against {target}"
        change = "the log-odds of the answer change by 1"
    return Legend(
        most if signed else "the largest weight of the text",
        least if signed else "weight 0",
        signed,
        f"Full colour: without the word {change}, or as much as without the strongest word of the text." * signed,
        "a word that the model does not know" * unknown,
        f"{'contribution' if signed else 'weight'} of a sentence" * any(view.sentences for view in views),
    )


def verdict(answer: Answer) -> str:
    if answer.right is not None:
        return "correct" if answer.right else f"wrong, actual: {answer.truth}"
    if not answer.truth:
        return ""
    return f"actual: {answer.truth}" + (f", off by {answer.error}" if answer.error else "")


def cautions(view: ExplainedText) -> list[str]:
    """Sentences that a reader of the figure must know."""
    explained = f"explained for {one_line(view.target)}" if view.target else ""
    return [f"{one[0].upper()}{one[1:]}." for one in (view.note, view.nothing_strong, explained) if one]


def printed(row: Row) -> Iterator[tuple[str, Piece]]:
    """The pieces of a row with their text as it is printed: white space is one space, or one newline if it has one.
    There is none at the start and at the end of a row."""
    pieces = [(_SPACE.sub(_space, piece.text), piece) for piece in row.pieces]
    start = next((index for index, (text, _) in enumerate(pieces) if text.strip()), len(pieces))
    end = next((index for index in range(len(pieces), 0, -1) if pieces[index - 1][0].strip()), 0)
    for index in range(start, end):
        text, piece = pieces[index]
        text = text.lstrip() if index == start else text
        yield text.rstrip() if index == end - 1 else text, piece


def cuts(text: str) -> list[str]:
    """A text cut where a long word may break."""
    ends = [match.end() for match in _LONG.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]


def right_to_left(row: Row) -> bool:
    return direction("".join(piece.text for piece in row.pieces)) == "rtl"


def _space(match: re.Match[str]) -> str:
    return "\n" if len(match.group().splitlines()) > 1 or match.group().splitlines()[0] == "" else " "
