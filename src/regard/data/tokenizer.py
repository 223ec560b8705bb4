"""From a text to ids and back to its words: the tokenizer that is saved with a model.

The kernels that read many texts at once are imported when they are used: `regard.runtime` reads single texts without numba.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.sentences import part_ranges, word_ranges
from regard.data.vocabulary import LONGEST, Vocabulary
from regard.data.words import edges, forms, forms_at, spans
from regard.records import Span

if TYPE_CHECKING:
    from regard.data.packing import Packed
    from regard.kernels.dictionary import Dictionary
    from regard.kernels.pairs import PairTable
    from regard.kernels.scanner import Words

WordRange = tuple[int, int]  # words [first, last) of a text
FORMAT = "regard words 2"
FORMATS = ("regard words 1", FORMAT)  # 1 had no pairs and no beginnings


class Units(NamedTuple):
    """The units (words, pairs, beginnings) of many texts, concatenated."""

    ids: NDArray[np.int32]  # (units,)
    first: NDArray[np.int32]  # index of the first word that a unit covers, within its text
    last: NDArray[np.int32]
    offsets: NDArray[np.int64]  # (texts + 1,)
    words: NDArray[np.int64]  # (texts,) number of words


class Indexed(NamedTuple):
    """A text as ids in reading order, and how they divide into sentences and these into parts."""

    ids: NDArray[np.int32]  # (words,)
    shape: tuple[NDArray[np.int64], ...] = ()  # () | (words per sentence,) | (words per sentence, sentences per part)
    covers: NDArray[np.int32] | None = None  # (ids, 2) first and last word covered by each id, if ids are not words


class Outline(NamedTuple):
    """The spans of a text's words, sentences and parts, and how many words belong together."""

    words: list[Span]
    sentences: list[Span]  # empty at one level
    parts: list[Span]  # empty below three levels
    shape: tuple[NDArray[np.int64], ...]  # as in Indexed


@dataclass(frozen=True, eq=False)
class Tokenizer:
    """Ids are numbered: words first, then beginnings of words, then pairs of words."""

    vocabulary: Vocabulary
    levels: int = 1
    lowercase: bool = True
    max_words: int | None = None
    letters: int = 0  # number of letters of a word's beginning; 0: beginnings are not read
    beginnings: tuple[str, ...] = ()
    # (pairs, 2) the ids of both words; 0 is the edge of a text
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))

    def __len__(self) -> int:
        """The number of ids, including padding and unknown."""
        return self.singles + len(self.pairs)

    @property
    def singles(self) -> int:
        """The number of ids that cover one word: words and beginnings. Those of pairs follow."""
        return len(self.vocabulary) + len(self.beginnings)

    @property
    def has_units(self) -> bool:
        """Whether there are units other than words."""
        return bool(self.letters) or len(self.pairs) > 0

    def encode_all(self, texts: Sequence[str]) -> Units:
        """The units of many texts, ignoring levels, by compiled code."""
        from regard.data.packing import pack

        return self.encode_packed(pack(texts, self.lowercase))

    def encode_packed(self, texts: Packed) -> Units:
        """The same for texts whose bytes are packed already; they are put into lower case in place."""
        return self.read_packed(texts)[0]

    def read_packed(self, texts: Packed) -> tuple[Units, Words]:
        """The same with the words as positions in the packed bytes."""
        from regard.kernels.units import beginning_ends

        data, offsets = texts
        found = self.find_words(texts)
        starts, ends, counts = found
        words = self._words.look_up(data, starts, ends) + 2  # a missing word has −1, and unknown is 1
        if not self.has_units:
            bounds = np.zeros(len(offsets), dtype=np.int64)
            counts.cumsum(out=bounds[1:])
            position = (np.arange(len(words)) - np.repeat(bounds[:-1], counts)).astype(np.int32)
            return Units(words, position, position, bounds, counts), found
        beginnings = np.zeros(len(words), dtype=np.int32)
        if self.letters:
            beginning, first = beginning_ends(data, starts, ends, self.letters), len(self.vocabulary)
            beginnings = self._beginnings.look_up(data, starts, beginning, unknown=-first) + first
        return self.units_of(words, beginnings, counts), found

    def find_words(self, texts: Packed) -> Words:
        """Where the words are that are read."""
        from regard.kernels.scanner import Words, find_words
        from regard.kernels.units import cut

        found = find_words(*texts, self.lowercase)
        return found if self.max_words is None else Words(*cut(*found, self.max_words))

    def units_of(self, words: NDArray[np.int32], beginnings: NDArray[np.int32], counts: NDArray[np.int64]) -> Units:
        """The units of texts whose words are known by id; `beginnings` has 0 for a word without one."""
        from regard.kernels.units import find_units

        bounds = np.zeros(len(counts) + 1, dtype=np.int64)
        counts.cumsum(out=bounds[1:])
        return Units(*find_units(words, beginnings, bounds, self.pair_table), counts)

    @cached_property
    def _words(self) -> Dictionary:
        from regard.kernels.dictionary import Dictionary

        return Dictionary.of(self.vocabulary.words)

    @cached_property
    def _beginnings(self) -> Dictionary:
        from regard.kernels.dictionary import Dictionary

        return Dictionary.of(self.beginnings)

    @cached_property
    def pair_table(self) -> PairTable:
        from regard.kernels.pairs import PairTable, join

        return PairTable(join(self.pairs[:, 0], self.pairs[:, 1]), self.singles)

    def encode(self, text: str) -> Indexed:
        if self.has_units:
            return Indexed(self.encode_all([text]).ids)
        ids = self.vocabulary.ids(forms(text, self.lowercase)[: self.max_words])
        return Indexed(ids, () if self.levels == 1 else self.outline(text).shape)

    def encode_each(self, texts: Sequence[str]) -> list[Indexed]:
        return [self.encode(text) for text in texts]

    def outline(self, text: str) -> Outline:
        return outline(text, self.levels, self.max_words)

    def known(self, text: str, words: Sequence[Span], indexed: Indexed | None = None) -> list[bool]:
        """Which of a text's words are in the vocabulary."""
        return self.vocabulary.known(forms_at(text, words, self.lowercase))

    def to_json(self) -> str:
        row = {
            "format": FORMAT,
            "levels": self.levels,
            "lowercase": self.lowercase,
            "max_words": self.max_words,
            "letters": self.letters,
        }
        lists = f'"words": {one_per_line(self.vocabulary.words)},\n"beginnings": {one_per_line(self.beginnings)}'
        content = f"{json.dumps(row, ensure_ascii=False, indent=0)[:-2]},\n{lists}"
        # Half a surrogate pair is not UTF-8: written as \ud83d it can be saved, and stays distinct from "?".
        content = content.encode("utf-8", "backslashreplace").decode("utf-8")
        first, second = (json.dumps(side.tolist(), separators=(",", ":")) for side in self.pairs.T)
        return f'{content},\n"pairs": [\n{first},\n{second}\n]\n}}'

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Tokenizer:
        if row["format"] not in FORMATS:
            raise ValueError(f"format: expected {FORMAT!r}, got {row['format']!r}")
        vocabulary = Vocabulary(tuple(row["words"]))
        pairs = np.array(row.get("pairs", [[], []]))  # (2, pairs)
        if pairs.size and pairs.dtype.kind != "i":
            raise ValueError("pairs: expected whole numbers")
        pairs = pairs.astype(np.int64)
        if pairs.ndim != 2 or len(pairs) != 2 or (pairs.size and not 0 <= pairs.min() <= pairs.max() < len(vocabulary)):
            raise ValueError("pairs: expected two lists of word ids of equal length")
        letters, beginnings = row.get("letters", 0), tuple(row.get("beginnings", ()))
        if not {*map(type, vocabulary.words), *map(type, beginnings)} <= {str} or len({*beginnings}) < len(beginnings):
            raise ValueError("words and beginnings: expected strings without duplicates")
        if type(letters) is not int or not 0 <= letters <= LONGEST:
            raise ValueError(f"letters: expected a whole number from 0 to {LONGEST}, got {str(letters)[:40]}")
        check_outline(row)
        return cls(vocabulary, row["levels"], row["lowercase"], row["max_words"], letters, beginnings, pairs.T)


def check_outline(row: Mapping[str, Any]) -> None:
    """The values that tokenizers of words and of pieces share."""
    levels, lowercase, most = row["levels"], row["lowercase"], row["max_words"]
    if type(levels) is not int or levels not in (1, 2, 3):
        raise ValueError(f"levels: expected 1, 2 or 3, got {str(levels)[:40]}")
    if type(lowercase) is not bool:
        raise ValueError(f"lowercase: expected true or false, got {str(lowercase)[:40]}")
    if most is not None and (type(most) is not int or not 0 < most < 1 << 62):
        raise ValueError(f"max_words: expected a whole number from 1, or null, got {str(most)[:40]}")


def one_per_line(words: Sequence[str]) -> str:
    """A list as `json.dumps` writes it with an indent of 0, in a tenth of the time."""
    return "[\n" + ",\n".join(map(encode_basestring, words)) + "\n]" if words else "[]"


def outline(text: str, levels: int, max_words: int | None) -> Outline:
    every = spans(text)
    words = every[:max_words]
    if levels == 1:
        return Outline(words, [], [], ())
    # Parts and sentences are found before the text is cut: max_words must not move their ends.
    parts = part_ranges(text, every) if levels == 3 else [(0, len(every))]
    parts = [part for part in parts if part[0] < len(words)]
    units = [[unit for unit in sentences_of(part, text, every) if unit[0] < len(words)] for part in parts]
    sentences = [unit for within in units for unit in within]
    lengths = np.array([min(last, len(words)) - first for first, last in sentences], dtype=np.int64)
    if levels == 2:
        return Outline(words, edges(sentences, every), [], (lengths,))
    counts = np.array([len(within) for within in units], dtype=np.int64)
    return Outline(words, edges(sentences, every), edges(parts, every), (lengths, counts))


def sentences_of(part: WordRange, text: str, words: Sequence[Span]) -> list[WordRange]:
    """The sentences of a part, which is split separately, because a sentence ends where its part ends."""
    first, last = part
    low, high = words[first][0], words[last - 1][1]
    shifted = [(start - low, end - low) for start, end in words[first:last]]
    return [(first + start, first + end) for start, end in word_ranges(text[low:high], shifted)]
