"""From a text to ids and back to its words: what a saved model needs to know about reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.sentences import parts, sentences
from regard.data.vocabulary import Vocabulary
from regard.data.words import forms, spans
from regard.records import Span

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
        words = spans(text)[: self.max_words]
        if self.levels == 1:
            return Outline(words, [], [], ())
        starts = [start for start, _ in words]
        units, lengths = occupied(sentences(text), starts)
        if self.levels == 2:
            return Outline(words, units, [], (lengths,))
        # a sentence ends where its part ends, so sentences are found part by part
        pieces = [(low + a, low + b) for low, high in parts(text) for a, b in sentences(text[low:high])]
        units, lengths = occupied(pieces, starts)
        tops, counts = occupied(parts(text), [start for start, _ in units])
        return Outline(words, units, tops, (lengths, counts))

    def to_json(self) -> str:
        row = {
            "format": FORMAT,
            "levels": self.levels,
            "lowercase": self.lowercase,
            "max_words": self.max_words,
            "words": list(self.vocabulary.words),
        }
        return json.dumps(row, ensure_ascii=False, indent=0)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Tokenizer:
        if row["format"] != FORMAT:
            raise ValueError(f"format {row['format']!r} instead of {FORMAT!r}")
        return cls(Vocabulary(tuple(row["words"])), int(row["levels"]), bool(row["lowercase"]), row["max_words"])


def occupied(units: list[Span], starts: list[int]) -> tuple[list[Span], NDArray[np.int64]]:
    """The units that hold something, and how many of the things that start at `starts` (in order) each holds."""
    edges = np.searchsorted(np.asarray(starts, dtype=np.int64), [start for start, _ in units[1:]])
    counts = np.diff(np.concatenate(([0], edges, [len(starts)])))
    return [unit for unit, count in zip(units, counts, strict=True) if count], counts[counts > 0]
