"""Readable names of units."""

from __future__ import annotations

from regard.data.wordpieces import AnyTokenizer

PADDING, UNKNOWN, EDGE = "[padding]", "[unknown]", "|"


def token_names(tokenizer: AnyTokenizer) -> list[str]:
    """The name of every id: words unchanged, beginnings as "belie…", pairs as "not good", "|" for the edge of a text."""
    words = [PADDING, UNKNOWN, *tokenizer.vocabulary.words]
    ends = [EDGE, *words[1:]]  # in a pair, the id 0 is the edge of a text
    pairs = [f"{ends[left]} {ends[right]}" for left, right in tokenizer.pairs.tolist()]
    return words + [f"{beginning}…" for beginning in tokenizer.beginnings] + pairs
