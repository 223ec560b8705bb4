"""An analysis read for drawing: its types and their marks, the tokens of each, how far the scores reach, which words to name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from regard.report.plots.axis import span
from regard.report.plots.marks import UNTYPED, Mark, type_marks
from regard.report.plots.scatter import Cloud, Point, Span
from regard.report.text.characters import one_line

Found = Mapping[str, Any]
NO_TYPE = "no type"
NAMED = 12  # words of a class that the scatter may name, where there is room


def type_names(found: Found) -> list[str]:
    """Classes in their order, then the neutral type."""
    return [kind["name"] for kind in found["types"]]


def recorded(found: Found) -> Mapping[str, Any] | None:
    """The recording, where there is something in it."""
    told: Mapping[str, Any] | None = found["recording"]
    return told if told and told["moments"] and told["tokens"] else None


def marks_of(found: Found) -> dict[str, Mark]:
    return type_marks(type_names(found))


def has_untyped(found: Found) -> bool:
    return any(token["type"] is None for token in found["tokens"])


def polarity_title(found: Found) -> str:
    """What the axis of polarity means, which two classes share and more don't."""
    if found["task"] == "binary":
        first, second = (one_line(name) for name in found["classes"])
        return f"polarity score: ← {first}, {second} →"
    return "polarity score: lead of its strongest class over the others"


ATTENTION_TITLE = "attention score"


def clouds(found: Found) -> list[Cloud]:
    """From the back to the front: tokens of no type, neutral ones, classes."""
    marks, points = marks_of(found), points_by_type(found["tokens"])
    order = [*reversed(type_names(found))]
    drawn = [Cloud(name, marks[name], tuple(points[name])) for name in order if name in points]
    untyped = [Cloud(NO_TYPE, UNTYPED, tuple(points[None]))] if None in points else []
    return untyped + drawn


def points_by_type(tokens: Sequence[Mapping[str, Any]]) -> dict[str | None, list[Point]]:
    found: dict[str | None, list[Point]] = {}
    for token in tokens:
        found.setdefault(token["type"], []).append((token["polarity"], token["attention"]))
    return found


def score_spans(found: Found, along: bool) -> tuple[Span, Span]:
    """How far both scores reach: of the saved model, or `along` training too."""
    told = recorded(found) if along else None
    polarity, attention = (
        [token[score] for token in found["tokens"]] + [value for moment in told[score] for value in moment]
        if told
        else [token[score] for token in found["tokens"]]
        for score in ("polarity", "attention")
    )
    return span(polarity or [0.0]), span(attention or [0.0])


def named_words(found: Found) -> Iterator[Mapping[str, Any]]:
    """The strongest words, the classes taking turns, so that each gets room beside its points."""
    for place in range(NAMED):
        for words in found["words"].values():
            if place < len(words):
                yield words[place]
