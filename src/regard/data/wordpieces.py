"""Word pieces of a pretrained model: its own tokenizer cuts the text, and each piece knows the words that it covers.

Words are regard's (`data/words`), so that explanations and measures speak of the same words whatever the encoder. The pieces
are those that the model was trained with: the text goes through its tokenizer as it stands ("don't" is don + ' + t), but that
runs of white space and <br> tags become one blank, and that special tokens written in a text are ordinary characters. A piece
that lies across two words covers both. Below sentences each sentence is cut on its own.

Numbers: 0 is padding, 1 the tokenizer's unknown piece; all other pieces follow in its order, special ones left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed, Outline, Tokenizer, Units, outline
from regard.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary
from regard.data.words import LINE_BREAK
from regard.errors import InputError
from regard.records import Span

FORMAT = "regard pieces 1"
_TAG = LINE_BREAK.pattern
UNEVEN = re.compile(rf"(?:\s|{_TAG}){{2,}}|[^\S ]|{_TAG}", re.IGNORECASE)  # blanks that are not one plain blank
HALF_PAIR = re.compile("[\ud800-\udfff]")  # no character, and the tokenizer takes none

TOGETHER = 1 << 18  # characters that are cut at a time: of each the package holds far more than is kept

Pieces = tuple[NDArray[np.int32], NDArray[np.int32]]  # ids (pieces,), covers (pieces, 2)
NOTHING: Pieces = np.empty(0, dtype=np.int32), np.empty((0, 2), dtype=np.int32)


class Row(NamedTuple):
    """The words [first, last) of a text, which are read together."""

    text: str
    words: Sequence[Span]
    first: int
    last: int

    @property
    def length(self) -> int:
        return self.words[self.last - 1][1] - self.words[self.first][0]

    @property
    def written(self) -> str:
        return self.text[self.words[self.first][0] : self.words[self.last - 1][1]]

    @property
    def spans(self) -> NDArray[np.int64]:
        """(words, 2), in what is written"""
        return np.array(self.words[self.first : self.last], dtype=np.int64) - self.words[self.first][0]


@dataclass(frozen=True, eq=False)
class WordPieces:
    """What `Tokenizer` is, for word pieces."""

    made: str  # JSON of the package tokenizers
    levels: int = 1
    max_words: int | None = None
    longest: int | None = None  # pieces of a row, where longer ones are refused

    def __len__(self) -> int:
        return len(self.vocabulary)

    @cached_property
    def backend(self) -> Any:
        try:
            from tokenizers import Tokenizer as Backend
        except ImportError:
            raise InputError("word pieces need the package tokenizers: pip install 'regard[bert]'") from None
        backend = Backend.from_str(self.made)
        backend.no_padding()
        backend.no_truncation()
        backend.encode_special_tokens = True
        return backend

    @cached_property
    def unknown(self) -> int | None:
        """The tokenizer's own number of what it doesn't know, where there is such a thing."""
        model = json.loads(self.made)["model"]
        if model.get("unk_id") is not None:
            return int(model["unk_id"])
        name = model.get("unk_token")
        number: int | None = None if name is None else self.backend.token_to_id(name)
        return number

    @cached_property
    def sources(self) -> NDArray[np.int64]:
        """The tokenizer's own number of each of ours; −1 where it has none."""
        added = self.backend.get_added_tokens_decoder()
        specials = {number for number, token in added.items() if token.special} | {self.unknown}
        own = sorted(set(self.backend.get_vocab().values()) - specials)
        return np.array([-1, -1 if self.unknown is None else self.unknown, *own], dtype=np.int64)

    @cached_property
    def numbers(self) -> NDArray[np.int32]:
        """Our number of each of the tokenizer's own."""
        found = np.full(max(self.backend.get_vocab().values()) + 1, UNKNOWN, dtype=np.int32)
        found[self.sources[SPECIALS:]] = np.arange(SPECIALS, len(self.sources))
        return found

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(tuple(self.backend.id_to_token(int(number)) for number in self.sources[SPECIALS:]))

    @cached_property
    def lowercase(self) -> bool:
        """Whether the pretrained model reads capitals as small letters."""
        normalizer = self.backend.normalizer
        return normalizer is not None and "a" in normalizer.normalize_str("A")

    @property
    def beginnings(self) -> tuple[str, ...]:
        return ()

    @property
    def pairs(self) -> NDArray[np.int64]:
        return np.empty((0, 2), dtype=np.int64)

    def outline(self, text: str) -> Outline:
        return outline(text, self.levels, self.max_words)

    def encode(self, text: str) -> Indexed:
        return self.encode_each([text])[0]

    def encode_each(self, texts: Sequence[str]) -> list[Indexed]:
        found: list[Indexed] = []
        for first, last in portions([len(text) for text in texts]):  # outlines are larger than what is kept, too
            own = texts[first:last]
            found += self.indexed(own, [self.outline(text) for text in own])
        return found

    def indexed(self, texts: Sequence[str], outlines: Sequence[Outline]) -> list[Indexed]:
        ends = [np.cumsum(found.shape[0] if found.shape else [len(found.words)]).tolist() for found in outlines]
        rows = [
            Row(text, found.words, first, last)
            for text, found, own in zip(texts, outlines, ends, strict=True)
            for first, last in pairwise((0, *own))
        ]
        pieces = iter(self.cut(rows))
        return [gathered(found, [*islice(pieces, len(own))]) for found, own in zip(outlines, ends, strict=True)]

    def encode_all(self, texts: Sequence[str]) -> Units:
        """The pieces of many texts, without levels."""
        outlines = [self.outline(text) for text in texts]
        found = self.indexed(texts, outlines)
        counts = np.array([len(own.words) for own in outlines], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum([len(text.ids) for text in found], dtype=np.int64)])
        ids = np.concatenate([np.empty(0, dtype=np.int32), *(text.ids for text in found)])
        covers = np.concatenate(
            [np.empty((0, 2), dtype=np.int32), *(text.covers for text in found if text.covers is not None)]
        )
        return Units(ids, covers[:, 0], covers[:, 1], offsets, counts)

    def known(self, text: str, words: Sequence[Span], found: Indexed | None = None) -> list[bool]:
        """Which of a text's words the pieces spell out; `found` are its pieces, where they were asked for before."""
        found = found or self.encode(text)
        assert found.covers is not None
        missed = found.covers[found.ids == UNKNOWN]
        return [bool(own) for own in covered(found.covers, len(words)) & ~covered(missed, len(words))]

    def cut(self, rows: Sequence[Row]) -> list[Pieces]:
        """The pieces of each row: the package cuts many at a time, on all cores."""
        real = [row for row in rows if row.first < row.last]
        parts = (real[first:last] for first, last in portions([row.length for row in real]))
        found = chain.from_iterable(map(self._cut, parts))
        return [next(found) if row.first < row.last else NOTHING for row in rows]

    def _cut(self, rows: Sequence[Row]) -> list[Pieces]:
        """All rows as one: their characters, words and pieces are counted on from row to row."""
        shown, places = zip(*(evened(row.written) for row in rows), strict=True)
        found = self.backend.encode_batch(shown, add_special_tokens=False)
        self.check_lengths(found)
        counts = np.array([len(own.ids) for own in found])  # (rows,) pieces
        ahead = np.cumsum([0, *(row.length + 1 for row in rows)])[:-1]  # (rows,) characters of the rows before
        at = np.concatenate([own + before for own, before in zip(places, ahead, strict=True)])
        spans = np.concatenate([row.spans + before for row, before in zip(rows, ahead, strict=True)])  # (words, 2)

        first, last = ranges([row.last - row.first for row in rows], counts)  # (pieces,) the words of its row
        begin, end = ranges([len(own) for own in shown], counts)  # the characters of its row
        starts, ends = flat(chain.from_iterable(own.offsets for own in found)).reshape(-1, 2).T
        empty = ends <= starts
        starts, ends = at[np.minimum(begin + starts, end)], at[begin + (ends - 1).clip(min=0)] + 1
        low = np.searchsorted(spans[:, 1], starts, side="right")
        high = np.searchsorted(spans[:, 0], ends, side="left") - 1
        nowhere = empty | (high < low)  # a blank: it belongs to the word before it
        low = np.where(nowhere, np.minimum(low - 1, high), low).clip(first, last)
        high = np.where(nowhere, low, high).clip(first, last)
        above = np.repeat([row.first for row in rows], counts) - first
        covers = np.stack((low + above, high + above), 1).astype(np.int32)

        ids = self.numbers[flat(own.ids for own in found)]
        stops = np.cumsum(counts)
        return [
            (ids[stop - count : stop], covers[stop - count : stop]) if count else unread(row)
            for row, count, stop in zip(rows, counts.tolist(), stops.tolist(), strict=True)
        ]

    def check_lengths(self, found: Sequence[Any]) -> None:
        longest = max(len(own.ids) for own in found)
        if self.longest is not None and longest > self.longest:
            raise InputError(
                f"a text of {longest} word pieces is longer than the {self.longest} that the pretrained model reads "
                "together, and window = 0 refuses it; without it the text is read in several windows"
            )

    def to_json(self) -> str:
        row = {
            "format": FORMAT,
            "levels": self.levels,
            "lowercase": self.lowercase,
            "max_words": self.max_words,
            "longest": self.longest,
            "pieces": json.loads(self.made),
        }
        return json.dumps(row, ensure_ascii=False, indent=0)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> WordPieces:
        if row["format"] != FORMAT:
            raise ValueError(f"format {row['format']!r} instead of {FORMAT!r}")
        longest = None if row["longest"] is None else int(row["longest"])
        found = cls(json.dumps(row["pieces"]), int(row["levels"]), row["max_words"], longest)
        if found.lowercase != row["lowercase"]:
            raise ValueError("lowercase: the word pieces say otherwise")
        return found


AnyTokenizer = Tokenizer | WordPieces


def tokenizer_from_dict(row: Mapping[str, Any]) -> AnyTokenizer:
    return WordPieces.from_dict(row) if row["format"] == FORMAT else Tokenizer.from_dict(row)


def portions(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of things in a row, each no larger than is cut at a time, or of one thing alone."""
    first, total = 0, 0
    for place, size in enumerate(sizes):
        if place > first and total + size > TOGETHER:
            yield first, place
            first, total = place, 0
        total += size
    if first < len(sizes):
        yield first, len(sizes)


def gathered(outline: Outline, rows: Sequence[Pieces]) -> Indexed:
    """A text of these rows."""
    ids, covers = rows[0] if len(rows) == 1 else (np.concatenate(part) for part in zip(NOTHING, *rows, strict=True))
    lengths = np.array([len(row[0]) for row in rows], dtype=np.int64)
    return Indexed(ids, (lengths, *outline.shape[1:]) if outline.shape else (), covers)


def unread(row: Row) -> Pieces:
    """Characters that the tokenizer passes over; the row is there all the same."""
    return np.array([UNKNOWN], dtype=np.int32), np.array([[row.first, row.last - 1]], dtype=np.int32)


def covered(covers: NDArray[np.int32], words: int) -> NDArray[np.bool_]:
    """(pieces, 2) -> (words,) whether a piece lies on it"""
    steps = np.bincount(covers[:, 0], minlength=words + 1) - np.bincount(covers[:, 1] + 1, minlength=words + 1)
    return np.cumsum(steps)[:words] > 0


def ranges(sizes: Sequence[int], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of things that lie one row behind the other, the first and the last of its row, for each of the row's pieces."""
    ends = np.cumsum(sizes)
    return np.repeat(ends - sizes, counts), np.repeat(ends - 1, counts)


def flat(lists: Iterable[Iterable[int]]) -> NDArray[np.int64]:
    return np.fromiter(chain.from_iterable(lists), np.int64)


def evened(text: str) -> tuple[str, NDArray[np.int64]]:
    """The text as the tokenizer is to see it, and where each of its characters stands in the text."""
    if not text.isascii():
        text = HALF_PAIR.sub("\ufffd", text)
    if not UNEVEN.search(text):
        return text, np.arange(len(text))
    kept = np.ones(len(text), dtype=bool)
    for match in UNEVEN.finditer(text):
        kept[match.start() + 1 : match.end()] = False
    return UNEVEN.sub(" ", text), np.flatnonzero(kept)
