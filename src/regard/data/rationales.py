"""Words that people marked in a text, from a column of its file: spans of characters or of tokens.

The column has a JSON list of [start, end), as in ERASER; for tokens (the text split at single spaces) a list with a 0 or 1
per token is accepted too. An empty list marks nothing. Anything else is an error, because misread spans would distort
the measures unnoticed.
"""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple, TypeGuard

from regard.data.formats import Row, shown
from regard.data.words import edges
from regard.errors import InputError, quoted
from regard.records import Span

Unit = Literal["characters", "tokens"]
EXPECTED: dict[Unit, str] = {
    "characters": "a JSON list of [start, end] in characters",
    "tokens": "a JSON list of [start, end] in tokens, or of a 0 or 1 for each token",
}


class Rationales(NamedTuple):
    """The column of the marks, and the unit that their numbers count."""

    column: str
    unit: Unit = "characters"

    def spans(self, row: Row, name: str, text: str) -> tuple[Span, ...]:
        """The marked spans of a row's text, in characters, none of them empty."""
        where = f"{name}, {row.where()}, column {self.column!r}"
        if self.column not in row.fields:
            raise InputError(f"{where}: the row has no such field; its fields are {quoted(list(row.fields))}")
        value = row.fields[self.column]
        marks = parse_json(value) if isinstance(value, str) else value
        tokens = token_spans(text) if self.unit == "tokens" else None
        if tokens is not None and is_per_token(marks):
            if len(marks) != len(tokens):
                raise InputError(f"{where}: expected one number per token, got {len(marks)} for {len(tokens)} tokens")
            return tuple(token for token, marked in zip(tokens, marks, strict=True) if marked)
        if not isinstance(marks, list) or not all(map(is_span, marks)):
            raise InputError(f"{where}: expected {EXPECTED[self.unit]}, got {shown(value)}")
        length = len(text if tokens is None else tokens)
        for start, end in marks:
            if not 0 <= start <= end <= length:
                raise InputError(f"{where}: expected spans within {length} {self.unit}, got [{start}, {end})")
        spans = [(start, end) for start, end in marks if start < end]
        return tuple(spans if tokens is None else edges(spans, tokens))


def token_spans(text: str) -> list[Span]:
    """The spans of characters of the tokens."""
    spans, start = [], 0
    for token in text.split(" "):
        spans.append((start, start + len(token)))
        start += len(token) + 1
    return spans


def parse_json(value: str) -> Any:
    """None if it is not JSON."""
    try:
        return json.loads(value)
    except ValueError:
        return None


def is_per_token(value: Any) -> TypeGuard[list[int]]:
    return isinstance(value, list) and bool(value) and all(one in (0, 1) for one in value)


def is_span(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(edge) is int for edge in value)
