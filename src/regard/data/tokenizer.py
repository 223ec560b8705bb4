"""From a text to ids and back to its words: what a saved model needs to know about reading."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.sentences import part_ranges, word_ranges
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms, spans
from regard.records import Span

WordRange = tuple[int, int]  # words [first, last) of a text
FORMAT = "regard words 1"


class Indexed(NamedTuple):
    """A text as ids in reading order, and how they fall into sentences and these into parts."""

    ids: NDArray[np.int32]  # (words,)
    shape: tuple[NDArray[np.int64], ...] = ()  # () | (words a sentence,) | (words a sentence, sentences a part)


class Outline(NamedTuple):
    """Where a text's words, sentences and parts stand, and which words belong together."""

    words: list[Span]
    sentences: list[Span]  # empty at one level
    parts: list[Span]  # empty below three levels
    shape: tuple[NDArray[np.int64], ...]  # as in Indexed


@dataclass(frozen=True)
class Tokenizer:
    vocabulary: Vocabulary
    levels: int = 1
    lowercase: bool = True
    max_words: int | None = None

    def encode(self, text: str) -> Indexed:
        ids = self.vocabulary.ids(forms(text, self.lowercase)[: self.max_words])
        return Indexed(ids, () if self.levels == 1 else self.outline(text).shape)

    def outline(self, text: str) -> Outline:
        found = spans(text)
        words = found[: self.max_words]
        if self.levels == 1:
            return Outline(words, [], [], ())
        # Parts and sentences are found before the text is cut: max_words must not move their ends.
        parts = part_ranges(text, found) if self.levels == 3 else [(0, len(found))]
        parts = [part for part in parts if part[0] < len(words)]
        units = [[unit for unit in sentences_of(part, text, found) if unit[0] < len(words)] for part in parts]
        sentences = [unit for within in units for unit in within]
        lengths = np.array([min(last, len(words)) - first for first, last in sentences], dtype=np.int64)
        if self.levels == 2:
            return Outline(words, edges(sentences, found), [], (lengths,))
        counts = np.array([len(within) for within in units], dtype=np.int64)
        return Outline(words, edges(sentences, found), edges(parts, found), (lengths, counts))

    def to_json(self) -> str:
        row = {
            "format": FORMAT,
            "levels": self.levels,
            "lowercase": self.lowercase,
            "max_words": self.max_words,
            "words": list(self.vocabulary.words),
        }
        # Half a surrogate pair is no UTF-8: written as \ud83d it can be saved, and stays another word than "?".
        return json.dumps(row, ensure_ascii=False, indent=0).encode("utf-8", "backslashreplace").decode("utf-8")

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Tokenizer:
        if row["format"] != FORMAT:
            raise ValueError(f"format {row['format']!r} instead of {FORMAT!r}")
        return cls(Vocabulary(tuple(row["words"])), int(row["levels"]), bool(row["lowercase"]), row["max_words"])


def sentences_of(part: WordRange, text: str, found: Sequence[Span]) -> list[WordRange]:
    """The sentences of a part, which is read on its own, for a sentence ends where its part ends."""
    first, last = part
    low, high = found[first][0], found[last - 1][1]
    own = [(start - low, end - low) for start, end in found[first:last]]
    return [(first + start, first + end) for start, end in word_ranges(text[low:high], own)]


def edges(ranges: Iterable[WordRange], found: Sequence[Span]) -> list[Span]:
    """Ranges of words as characters."""
    return [(found[first][0], found[last - 1][1]) for first, last in ranges]
