"""A text split into pieces with the strength of their shading, as used by terminal, page and figure.

A word is shaded by the size of its contribution: relative to the largest of its text, but never to less than
`Explanation.strong`, so that a text without strong words stays pale. Its hue shows the sign. Without contributions a word is
shaded relative to the heaviest word of its text, because the weights of a text sum to 1: on an absolute scale every long
text would look blank. The square root of that ratio is taken, because both fall off steeply: a word with a tenth of the
largest value is then shaded at a third of the strength instead of vanishing.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.records import Explanation, SentenceScore, Span, TokenScore
from regard.report.colours import LEVELS, opacity
from regard.report.text.characters import one_line, visible
from regard.report.text.numbers import contribution_text

SPOKEN = 0.5  # words of this strength or more have their contribution read out by screen readers
READING = {
    "word": "",
    "beginning": "known only by its beginning",
    "unknown": "unknown word",
    "nothing": "unknown word, only separates its neighbours",
}


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
    def against(self) -> bool:
        return self.token is not None and (self.token.contribution or 0) < 0

    @property
    def ramp(self) -> str:
        """The name of its style class, without the level."""
        return "a" if self.against else "w"

    @property
    def spoken(self) -> str:
        """What screen readers read out after a strong word."""
        if self.token is None or self.token.contribution is None or self.strength < SPOKEN:
            return ""
        return f" ({'against' if self.against else 'for'} {contribution_text(self.token.contribution)[1:]})"

    @property
    def note(self) -> str:
        """The exact contribution and weight, and how the model reads the word."""
        if self.token is None:
            return ""
        reading = READING[self.token.read_as] or ("" if self.known else READING["unknown"])
        if self.token.contribution is None:
            facts = [f"{self.token.weight:.6g}"]
        else:
            side = "against" if self.against else "for"
            facts = [f"{side} {contribution_text(self.token.contribution)}", f"weight {self.token.weight:.3g}"]
        return ", ".join([*facts, reading] if reading else facts)


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence with its weight; or, without a weight, a whole flat text or a stretch outside of sentences."""

    pieces: tuple[Piece, ...]
    tail: str = ""  # the white space before the next row
    weight: float | None = None
    share: float = 0.0  # relative to the heaviest sentence: the length of the bar
    part: str = ""  # the line above the first row of a part, in a text of three levels
    contribution: float | None = None

    @property
    def against(self) -> bool:
        return (self.contribution or 0) < 0

    @property
    def number(self) -> str:
        """The contribution as text, or the weight if there is none."""
        if self.contribution is not None:
            return contribution_text(self.contribution)
        return "" if self.weight is None else weight_text(self.weight)

    @property
    def note(self) -> str:
        if self.weight is None or self.contribution is None:
            return ""
        return f"{'against' if self.against else 'for'} {self.number}, weight {weight_text(self.weight)}"


def rows(explanation: Explanation) -> list[Row]:
    """The text as rows whose pieces and tails, joined, are the whole (visible) text again."""
    text = visible(explanation.text)
    tokens = sorted((token for token in explanation.tokens if token.start < token.end), key=lambda token: token.start)
    starts = [token.start for token in tokens]
    strengths = word_strengths(explanation, tokens)
    sentences = _leaves(explanation.sentences)
    sizes = [_weight(s.weight) if s.contribution is None else _size(s.contribution) for s in sentences]
    heaviest = max([*sizes, explanation.strong * explanation.is_signed], default=0.0)
    result = []
    for (start, end), sentence in _stretches(text, sentences):
        body = start + len(text[start:end].rstrip()) if sentences else end
        low, high = bisect_left(starts, start), bisect_left(starts, end)
        pieces = tuple(_pieces(text, (start, body), tokens[low:high], strengths[low:high]))
        weight = None if sentence is None else _weight(sentence.weight)
        contribution = None if sentence is None else sentence.contribution
        size = _size(contribution) if contribution is not None else weight
        share = size / heaviest if size is not None and heaviest > 0 else 0.0
        parts = [
            _part(index, explanation.parts) for index, part in enumerate(explanation.parts) if start <= part.start < end
        ]
        result.append(Row(pieces, text[body:end], weight, share, ", ".join(parts), contribution))
    return result


def top_words(explanation: Explanation, count: int = 8) -> list[tuple[str, str]]:
    """The heaviest words with their weights as text, without words of weight 0."""
    ordered = sorted(explanation.tokens, key=lambda token: -token.weight)
    heavy = [token for token in ordered[:count] if _weight(token.weight) > 0]
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
    part = parts[index]
    sign = "" if part.contribution is None else f", contribution {contribution_text(part.contribution)}"
    return f"part {index + 1} of {len(parts)}, weight {weight_text(part.weight)}{sign}"


def word_strengths(explanation: Explanation, tokens: Sequence[TokenScore]) -> list[float]:
    if explanation.is_signed:
        sizes, floor = [_size(token.contribution or 0.0) for token in tokens], explanation.strong
    else:
        sizes, floor = [_weight(token.weight) for token in tokens], 0.0
    largest = max([*sizes, floor])
    return [math.sqrt(size / largest) if largest > 0 else 0.0 for size in sizes]


def _size(contribution: float) -> float:
    return abs(contribution) if math.isfinite(contribution) else 0.0


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
