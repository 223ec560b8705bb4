"""The fields of requests, declared once: msgspec parses them, and the OpenAPI description is made from them.

`expected` is what an error message says about a value of another type. `null` means the same as a field that is missing.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

MAX_PREDICTED, MAX_EXPLAINED = 1000, 100  # texts per request
MAX_ROWS = 10_000  # of a table


def described(expected: str, description: str | None = None, **schema: Any) -> Meta:
    return Meta(description=description, extra={"expected": expected}, extra_json_schema=schema or None)


A_TEXT = described("a string", "A text with at least one word.")
Text = Annotated[str, A_TEXT]
RunName = Annotated[str | None, described("a string", "The run to use; by default the first.")]
Method = Annotated[
    str | None, described("a string", "The explainer; by default the weights with which the model sums the words.")
]
Target = Annotated[str | None, described("a string", "The class that scores explain; by default the predicted one.")]
Number = Annotated[int, Meta(extra_json_schema={"minimum": 0})]
Without = Annotated[
    list[Number] | None,
    described("a list of word numbers", "Numbers of words, from 0, to erase as if they had never been written."),
]
OptionalText = Annotated[str | None, A_TEXT]
STRINGS = "a list of strings"


class PredictRequest(Struct, forbid_unknown_fields=True):
    text: OptionalText = None
    texts: Annotated[list[Text] | None, described(STRINGS, minItems=1, maxItems=MAX_PREDICTED)] = None
    run: RunName = None


class ExplainRequest(Struct, forbid_unknown_fields=True):
    text: OptionalText = None
    texts: Annotated[list[Text] | None, described(STRINGS, minItems=1, maxItems=MAX_EXPLAINED)] = None
    method: Method = None
    target: Target = None
    without: Without = None
    run: RunName = None


class CompareRequest(Struct, forbid_unknown_fields=True):
    text: OptionalText = None
    method: Method = None
    target: Target = None
    without: Without = None
    runs: Annotated[
        list[Annotated[str, Meta(description="The run to use; by default the first.")]] | None,
        described("a list of two names", minItems=2, maxItems=2),
    ] = None


class TableRequest(Struct, forbid_unknown_fields=True):
    table: Annotated[
        str | None,
        described("a string", f"A CSV file whose first row names the columns; up to {MAX_ROWS:,} rows."),
    ] = None
    format: Annotated[
        str | None, described("a string", "lines: one text per line, no header.", enum=["csv", "lines"])
    ] = None
    text_column: Annotated[str | None, described("a string", "The column with the texts; by default guessed.")] = None
    run: RunName = None


Request = PredictRequest | ExplainRequest | CompareRequest | TableRequest
AboutText = ExplainRequest | CompareRequest  # those that explain
