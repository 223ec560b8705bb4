"""Words that people marked in the texts of a corpus, as spans of characters: MARKS, one line a form of annotation.

All of them count tokens, which are the text split at single spaces. Which marks are evidence is VAT's choice (§5.3): those of
the text's own class.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.data.rationales import token_spans
from regard.data.words import edges
from regard.errors import InputError
from regard.faithfulness.marking import of_polarity
from regard.records import Example, Span

Fields = Mapping[str, Any]


class Form(NamedTuple):
    """Where a row keeps its marks, and which of them are evidence for a class: spans of tokens."""

    field: str
    accepted: str
    evidence: Callable[[Any, str], list[Span]]


def leaves(given: Any, label: str) -> list[Span]:
    """For the classes 0 and 1."""
    side = 1 if label == "1" else -1
    return [(place, place + 1) for place, own in enumerate(given) if side * (own - 2) > 0]


def rationales(given: Any, label: str) -> list[Span]:
    """All of them are for the text's class."""
    return [(start, end) for start, end in given]


MARKS = {
    "phrases": Form("spans", "a list of [start, end, class]", of_polarity),  # SemEval 2013, task 2A
    "leaves": Form("token_labels", "a list of 0 to 4, 2 being neutral,", leaves),  # the Stanford treebank
    "rationales": Form("rationales", "a list of [start, end]", rationales),  # ERASER
}


def marks_of(path: Path, examples: Sequence[Example], form: str) -> list[list[Span]]:
    """For each example that was read from a file of JSON lines, the marked characters."""
    field, accepted, evidence = MARKS[form]
    wanted = {example.row for example in examples}
    rows = {row: fields for row, fields in enumerate(lines(path), 1) if row in wanted}
    found = []
    for example in examples:
        fields = rows.get(example.row, {})
        if fields.get("text") != example.text:
            raise InputError(
                f"{path}, row {example.row}: not the text that was read from it; marks need the file itself"
            )
        try:
            own = evidence(fields[field], str(example.label))
        except (KeyError, TypeError, ValueError):
            raise InputError(
                f"{path}, row {example.row}: no marks of the form {form!r}; {accepted} in the field {field!r} is accepted"
            ) from None
        found.append(characters(example.text, own))
    return found


def characters(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans of tokens as spans of characters."""
    tokens = token_spans(text)
    return edges(((start, end) for start, end in spans if start < end <= len(tokens)), tokens)


def lines(path: Path) -> Iterator[Fields]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())
