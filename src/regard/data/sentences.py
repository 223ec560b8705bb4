"""The spans of a text's sentences and parts: boundaries spans by regular expressions, aligned with the words.

Rules, not a model: a full stop, exclamation or question mark before white space ends a sentence unless the word before
it is an abbreviation or an initial. A full stop of a script written without spaces, a line end and a <br> tag always
end one. A piece without a letter or digit (a row of stars, a dot of ". . .") belongs to the sentence before it, or to
the first one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from regard.data import words
from regard.records import Span

_CLOSERS = r"\"'’”»)\]}」』）】》"
_STOPS = re.compile(
    rf"[.!?…](?P<more>[.!?…]*+)(?P<closed>[{_CLOSERS}]*+)"
    # In tokenised text a closing mark is a separate token; a straight quote could be an opening one.
    r"(?:[^\S\n](?:''|[)\]}”’»])(?!\S))*+(?!\S)"
)
# Separate patterns, not one with alternatives: searching for a character set is many times faster.
_UNSPACED = re.compile(rf"[。！？｡؟۔।॥։።။។]+[{_CLOSERS}]*")
_THAI_GAPS = re.compile(r"(?<=[\u0E00-\u0E7F])\s(?=[\u0E00-\u0E7F])")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_NEXT = re.compile(r"\s*([^\W\d_]*)(\d?)")
_EDGE = re.compile(r"[\s(\[{\"'“‘/-]")
_LETTER = re.compile(r"[^\W_]")

# These are followed by a name or a number, so they never end a sentence.
# fmt: off
_TITLES = frozenset({
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "mt", "ft", "rev", "hon", "gen", "col", "capt", "cmdr", "lt",
    "sgt", "maj", "gov", "sen", "rep", "pres", "messrs", "mme", "mlle", "vs", "v", "cf", "approx", "est", "fig",
    "figs", "vol", "vols", "pp", "e.g", "i.e", "eg", "ie", "al", "ca", "bros", "dept", "univ",
})
# These end one if a capital letter follows.
_ENDINGS = frozenset({
    "etc", "inc", "ltd", "co", "corp", "jr", "sr", "ave", "blvd", "rd", "jan", "feb", "mar", "apr", "jun", "jul",
    "aug", "sep", "sept", "oct", "nov", "dec",
})
# After "U.S." or an initial, a capital letter is not evidence of a new sentence, but one of these words is.
_STARTERS = frozenset({
    "The", "A", "An", "This", "That", "These", "Those", "He", "She", "It", "We", "They", "You", "I", "There",
    "Here", "But", "And", "So", "If", "In", "On", "At", "As", "When", "While", "What", "Why", "How", "Who", "His",
    "Her", "Its", "My", "Our", "Their", "Your", "Not", "No", "Yes", "For", "From", "With", "After", "Before",
    "Then", "Also", "However", "Still", "Now",
})
# fmt: on


def sentences(text: str) -> list[Span]:
    """The characters [start, end) of every sentence, from its first word to its last."""
    spans = words.spans(text)
    return words.edges(word_ranges(text, spans), spans)


def word_ranges(text: str, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """The sentences as ranges [first, last) of the text's words, whose spans are `spans`."""
    ranges: list[tuple[int, int]] = []
    bare = False  # whether the latest range has no letter; possible only for the first one
    for first, last in _groups(_cuts(text), spans):
        lettered = _LETTER.search(text, spans[first][0], spans[last - 1][1]) is not None
        joins = bool(ranges) and (bare or not lettered)
        bare = not lettered and (bare or not ranges)
        ranges.append((ranges.pop()[0] if joins else first, last))
    return ranges


def parts(text: str) -> list[Span]:
    """The pieces of a text between blank lines: the reviews, where a text is a list of reviews."""
    spans = words.spans(text)
    return words.edges(part_ranges(text, spans), spans)


def part_ranges(text: str, spans: Sequence[Span]) -> list[tuple[int, int]]:
    """The parts as ranges [first, last) of the text's words, whose spans are `spans`."""
    return list(_groups((match.start() for match in _BLANK_LINE.finditer(text)), spans))


def _groups(cuts: Iterable[int], spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    """Ranges of words between the cuts; a cut inside a word, as in a web address, is ignored."""
    starts = [start for start, _ in spans]
    first = 0
    for cut in cuts:
        last = bisect_left(starts, cut, lo=first)
        if last > first and spans[last - 1][1] <= cut:
            yield first, last
            first = last
    if first < len(spans):
        yield first, len(spans)


def _cuts(text: str) -> list[int]:
    cuts = [match.end() for match in _STOPS.finditer(text) if _ends(text, match)]
    always = [words.LINE_END]
    if "<" in text:
        always.append(words.LINE_BREAK)
    if not text.isascii():
        always += _UNSPACED, _THAI_GAPS
    for pattern in always:
        cuts += [match.end() for match in pattern.finditer(text)]
    return sorted(cuts)


def _ends(text: str, match: re.Match[str]) -> bool:
    follows = _NEXT.match(text, match.end())
    word, digit = follows.groups() if follows else ("", "")
    mark = text[match.start()]
    if word[:1].islower() and (match["closed"] or mark == "…" or match["more"].endswith((".", "…"))):
        return False  # "Why?" she said … and so on
    return mark != "." or bool(match["more"]) or not _abbreviated(_before(text, match.start()), word, digit)


def _before(text: str, stop: int) -> str:
    """The word before the mark; only a few characters are inspected, to stay linear in time."""
    return _EDGE.split(text[max(0, stop - 24) : stop].rstrip())[-1]


def _abbreviated(before: str, word: str, digit: str) -> bool:
    lowered = before.lower()
    if lowered in _TITLES:
        return True
    if lowered == "no":
        return bool(digit)
    if lowered in _ENDINGS:
        return not word[:1].isupper()
    dotted = len(before) == 1 or (len(before) > 2 and all(len(piece) == 1 for piece in before.split(".")))
    return dotted and before[:1].isalpha() and bool(word or digit) and word not in _STARTERS
