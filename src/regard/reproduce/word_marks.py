"""Words that people marked in the texts of a corpus, as spans of characters: MARKS, one function a form of annotation.

All of them count tokens, which are the text split at single spaces. Which marks are evidence is VAT's choice (§5.3): those of
the text's own class.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from regard.data.rationales import token_spans
from regard.errors import InputError
from regard.records import Example, Span

Fields = Mapping[str, Any]


def phrases(fields: Fields, label: str) -> list[Span]:
    """`spans` of [start, end, class] (SemEval 2013, task 2A)."""
    return [(start, end) for start, end, polarity in fields["spans"] if str(polarity) == label]


def leaves(fields: Fields, label: str) -> list[Span]:
    """`token_labels` from 0 to 4, 2 being neutral (the Stanford treebank), for the classes 0 and 1."""
    side = 1 if label == "1" else -1
    return [(place, place + 1) for place, own in enumerate(fields["token_labels"]) if side * (own - 2) > 0]


def rationales(fields: Fields, label: str) -> list[Span]:
    """`rationales` of [start, end] for the text's class (ERASER)."""
    return [(start, end) for start, end in fields["rationales"]]


MARKS: dict[str, Callable[[Fields, str], list[Span]]] = {
    "phrases": phrases,
    "leaves": leaves,
    "rationales": rationales,
}


def marks_of(path: Path, examples: Sequence[Example], form: str) -> list[list[Span]]:
    """For each example that was read from a file of JSON lines, the marked characters."""
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
            own = MARKS[form](fields, str(example.label))
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{path}, row {example.row}: no marks of the form {form!r}") from None
        found.append(characters(example.text, own))
    return found


def characters(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans of tokens as spans of characters."""
    tokens = token_spans(text)
    return [(tokens[start][0], tokens[end - 1][1]) for start, end in spans if start < end <= len(tokens)]


def lines(path: Path) -> Iterator[Fields]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())
