"""Explanations as lines of JSON, written from arrays: the bytes that `json.dumps` would write, in a fraction of its time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from json.encoder import encode_basestring as quoted

import msgspec
import numpy as np
from numpy.typing import NDArray

from regard.records import Explanation
from regard.scored_tokens import WAYS, WORD, Tokens

# What surrounds the contribution of a word, by how it is read.
BEFORE = [f', "known": {"true" if code == WORD else "false"}, "contribution": ' for code in range(len(WAYS))]
AFTER = [f', "read_as": "{way}"}}' for way in WAYS]


def explanation_line(head: Mapping[str, object], explanation: Explanation) -> str:
    """`head`: what comes before the text, such as its row."""
    before, after = {**head, **explanation.before_tokens()}, explanation.after_tokens()
    tokens = explanation.tokens
    if not isinstance(tokens, Tokens):
        return dumped({**head, **explanation.as_dict()})
    rest = ", " + dumped(after)[1:] if after else "}"
    return f'{dumped(before)[:-1]}, "tokens": [{", ".join(token_lines(tokens))}]{rest}'


def dumped(row: Mapping[str, object]) -> str:
    return json.dumps(row, ensure_ascii=False)


def token_lines(tokens: Tokens) -> Iterator[str]:
    text, codes = tokens.text, tokens.codes.tolist()
    numbers = zip(written(tokens.weights), written(tokens.contributions), strict=True)
    rows = zip(tokens.starts.tolist(), tokens.ends.tolist(), numbers, codes, strict=True)
    for a, b, (weight, contribution), code in rows:
        word = quoted(text[a:b])
        yield (
            f'{{"text": {word}, "start": {a}, "end": {b}, "weight": {weight}{BEFORE[code]}{contribution}{AFTER[code]}'
        )


def written(numbers: NDArray[np.float64]) -> list[str]:
    """The numbers as Python writes them. msgspec gives the same digits, but never as 1e-05 or 1e+16, and null for NaN."""
    if not len(numbers):
        return []
    values = numbers.tolist()
    strings = msgspec.json.encode(values).decode()[1:-1].split(",")
    sizes = np.abs(numbers)
    for index in np.flatnonzero(~((sizes == 0) | ((sizes >= 1e-4) & (sizes < 1e16)))).tolist():
        strings[index] = json.dumps(values[index])
    return strings


def explanation_lines(
    explained: Iterable[tuple[Mapping[str, object], Explanation]],
) -> Iterator[str]:
    return (explanation_line(head, explanation) + "\n" for head, explanation in explained)
