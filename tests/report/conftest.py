"""Handmade explanations, to test views without a model."""

from __future__ import annotations

import re

import pytest

from regard.records import Explanation, Prediction, SentenceScore, TokenScore

HOSTILE = "He said <script>alert(\"x\")</script> & 'left' [bold]now[/bold] \x1b[31mred\x1b[0m\x00\r\nend\ud800 "


def explained(text: str, weights: list[float] | None = None, sentences: tuple[SentenceScore, ...] = ()) -> Explanation:
    """Every run of word characters is a token; without weights they grow along the text."""
    spans = [match.span() for match in re.finditer(r"\w+", text)]
    given = weights if weights is not None else [float(place + 1) for place in range(len(spans))]
    total = sum(given) or 1.0
    tokens = tuple(
        TokenScore(text[start:end], start, end, weight / total)
        for (start, end), weight in zip(spans, given, strict=True)
    )
    return Explanation(
        text, Prediction("positive", {"positive": 0.75, "negative": 0.25}), tokens, sentences, label="positive"
    )


@pytest.fixture
def flat() -> Explanation:
    return explained("A slow, quiet film.", [1, 16, 4, 0])


@pytest.fixture
def hierarchical() -> Explanation:
    text = "  Good start.  Bad end!\n\n<br />cut here \n"
    sentences = (SentenceScore(2, 13, 0.2), SentenceScore(15, 23, 0.8))
    tokens = (
        TokenScore("good", 2, 6, 0.15),
        TokenScore("start", 7, 12, 0.05),
        TokenScore("bad", 15, 18, 0.7),
        TokenScore("end", 19, 22, 0.1, known=False),
    )
    return Explanation(
        text, Prediction("positive", {"positive": 0.6, "negative": 0.4}), tokens, sentences, label="negative"
    )


@pytest.fixture
def hostile() -> Explanation:
    return explained(HOSTILE)


@pytest.fixture
def empty() -> Explanation:
    return Explanation("", Prediction("positive", {}), ())


@pytest.fixture
def price() -> Explanation:
    return Explanation("nice", Prediction(3.5, {}), (TokenScore("nice", 0, 4, 1.0),), label=4.0)
