"""A text split into pieces with the strength of their shading, as used by terminal, page and figure.

A word is shaded relative to the heaviest word of its text, because the weights of a text sum to 1: on an absolute scale
every long text would look blank. The square root of that ratio is taken, because attention falls off steeply: a word
with a tenth of the top weight is then shaded at a third of the strength instead of vanishing.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.records import Explanation, SentenceScore, Span, TokenScore
from regard.report.colours import LEVELS, opacity
from regard.report.text.characters import one_line, visible


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the text: a word with its strength, or the characters between words."""

    text: str
    token: TokenScore | None = None
    strength: float = 0.0

    @property
    def level(self) -> int:
        return round(self.strength * LEVELS)

    @property
    def opacity(self) -> float:
        return opacity(self.strength)

    @property
    def known(self) -> bool:
        return self.token is None or self.token.known

    @property
    def note(self) -> str:
        """The exact weight, as text."""
        return "" if self.token is None else f"{self.token.weight:.6g}" + ("" if self.known else ", unknown word")


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence with its weight; or, without a weight, a whole flat text or a stretch outside of sentences."""

    pieces: tuple[Piece, ...]
    tail: str = ""  # the white space before the next row
    weight: float | None = None
    share: float = 0.0  # relative to the heaviest sentence: the length of the bar
    part: str = ""  # the line above the first row of a part, in a text of three levels


def rows(explanation: Explanation) -> list[Row]:
    """The text as rows whose pieces and tails, joined, are the whole (visible) text again."""
    text = visible(explanation.text)
    tokens = sorted((token for token in explanation.tokens if token.start < token.end), key=lambda token: token.start)
    starts = [token.start for token in tokens]
    strengths = _strengths([token.weight for token in tokens])
    sentences = _leaves(explanation.sentences)
    heaviest = max((_weight(sentence.weight) for sentence in sentences), default=0.0)
    result = []
    for (start, end), sentence in _stretches(text, sentences):
        body = start + len(text[start:end].rstrip()) if sentences else end
        low, high = bisect_left(starts, start), bisect_left(starts, end)
        pieces = tuple(_pieces(text, (start, body), tokens[low:high], strengths[low:high]))
        weight = None if sentence is None else _weight(sentence.weight)
        share = weight / heaviest if weight is not None and heaviest > 0 else 0.0
        parts = [
            _part(index, explanation.parts) for index, part in enumerate(explanation.parts) if start <= part.start < end
        ]
        result.append(Row(pieces, text[body:end], weight, share, ", ".join(parts)))
    return result


def top_words(explanation: Explanation, count: int = 8) -> list[tuple[str, str]]:
    """The heaviest words with their weights as text, without words of weight 0."""
    heavy = [token for token in explanation.top(count) if _weight(token.weight) > 0]
    return [(one_line(token.text), weight_text(token.weight)) for token in heavy]


def concentration(explanation: Explanation) -> str:
    """The number of words that carry half of the weight, which shading relative to the heaviest word cannot show."""
    weights = sorted((_weight(token.weight) for token in explanation.tokens), reverse=True)
    total, held, count = sum(weights), 0.0, 0
    if not total:
        return ""
    while held < total / 2 * (1 - 1e-9):  # halves of equal weights must not depend on rounding
        held += weights[count]
        count += 1
    return f"half of the weight is on {count} of {len(weights)} word{'s' * (len(weights) != 1)}"


def weight_text(weight: float) -> str:
    """A weight in five characters; a small positive weight is not shown as zero."""
    if not math.isfinite(weight):
        return "–"
    return "<.001" if 0 < weight < 0.0005 else f"{weight:.3f}"


def _part(index: int, parts: Sequence[SentenceScore]) -> str:
    return f"part {index + 1} of {len(parts)}, weight {weight_text(parts[index].weight)}"


def _strengths(weights: Sequence[float]) -> list[float]:
    heaviest = max(map(_weight, weights), default=0.0)
    return [math.sqrt(_weight(weight) / heaviest) if heaviest > 0 else 0.0 for weight in weights]


def _weight(weight: float) -> float:
    return weight if math.isfinite(weight) and weight > 0 else 0.0


def _leaves(sentences: Sequence[SentenceScore]) -> list[SentenceScore]:
    """Sentences in reading order, without those that contain other sentences."""
    ordered = sorted((s for s in sentences if s.start < s.end), key=lambda s: (s.start, -s.end))
    following = [*ordered, None][1:]
    return [s for s, after in zip(ordered, following, strict=True) if after is None or after.end > s.end]


def _stretches(text: str, sentences: Sequence[SentenceScore]) -> Iterator[tuple[Span, SentenceScore | None]]:
    """The spans of the rows, without gaps: white space joins the row before it, other text is a separate row."""
    at = 0
    for index, sentence in enumerate(sentences):
        start, end = max(sentence.start, at), min(sentence.end, len(text))
        if start >= end:
            continue
        if text[at:start].strip():
            yield (at, start), None
            at = start
        after = sentences[index + 1].start if index + 1 < len(sentences) else len(text)
        between = text[end : max(after, end)]
        end += len(between) - len(between.lstrip())
        yield (at, end), sentence
        at = end
    if at < len(text):
        yield (at, len(text)), None


def _pieces(text: str, span: Span, tokens: Sequence[TokenScore], strengths: Sequence[float]) -> Iterator[Piece]:
    at, end = span
    for token, strength in zip(tokens, strengths, strict=True):
        first, last = max(token.start, at), min(token.end, end)
        if first >= last:
            continue
        if at < first:
            yield Piece(text[at:first])
        yield Piece(text[first:last], token, strength)
        at = last
    if at < end:
        yield Piece(text[at:end])
