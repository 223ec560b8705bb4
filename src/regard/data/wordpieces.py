"""Word pieces of a pretrained model: its tokenizer splits the text, and each piece is mapped to the words it covers.

Words are regard's (`data/words`), so that explanations and measures refer to the same words for every encoder. The pieces
are those that the model was trained with: its tokenizer gets the text unchanged ("don't" is don + ' + t), except that runs
of white space and <br> tags become one space, and that special tokens written in a text are ordinary characters. A piece
that spans two words covers both. With sentences, each sentence is split separately.

Ids: 0 is padding, 1 the tokenizer's unknown piece; all other pieces follow in its order, without special tokens.
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

from regard.data.tokenizer import Indexed, Outline, Tokenizer, Units, check_outline, outline
from regard.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary
from regard.data.words import LINE_BREAK
from regard.errors import InputError
from regard.extras import failure, import_extra
from regard.piece_ids import check_ids
from regard.records import Span

FORMAT = "regard pieces 1"
_TAG = LINE_BREAK.pattern
UNEVEN = re.compile(rf"(?:\s|{_TAG}){{2,}}|[^\S ]|{_TAG}", re.IGNORECASE)  # white space other than a single space
HALF_PAIR = re.compile("[\ud800-\udfff]")  # not a character; the tokenizer rejects it

CHUNK = 1 << 18  # characters tokenised at a time: the package holds far more per character than is kept

Pieces = tuple[NDArray[np.int32], NDArray[np.int32]]  # ids (pieces,), covers (pieces, 2)
NOTHING: Pieces = np.empty(0, dtype=np.int32), np.empty((0, 2), dtype=np.int32)


class Row(NamedTuple):
    """The words [first, last) of a text that are tokenised together."""

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
        """(words, 2), relative to `written`"""
        return np.array(self.words[self.first : self.last], dtype=np.int64) - self.words[self.first][0]


@dataclass(frozen=True, eq=False)
class WordPieces:
    """Counterpart of `Tokenizer` for word pieces."""

    definition: str  # JSON of the package tokenizers
    levels: int = 1
    max_words: int | None = None
    longest: int | None = None  # most pieces of a row, if longer ones are an error

    def __len__(self) -> int:
        return len(self.vocabulary)

    @cached_property
    def backend(self) -> Any:
        backend = import_extra("tokenizers", "a model of word pieces").Tokenizer.from_str(self.definition)
        backend.no_padding()
        backend.no_truncation()
        backend.encode_special_tokens = True
        return backend

    @cached_property
    def unknown(self) -> int | None:
        """The tokenizer's id of the unknown piece, if it has one."""
        model = json.loads(self.definition)["model"]
        if model.get("unk_id") is not None:
            return int(model["unk_id"])
        name = model.get("unk_token")
        number: int | None = None if name is None else self.backend.token_to_id(name)
        return number

    @cached_property
    def sources(self) -> NDArray[np.int64]:
        """The tokenizer's id for each of ours; −1 if it has none."""
        check_ids(self.backend)
        added = self.backend.get_added_tokens_decoder()
        specials = {number for number, token in added.items() if token.special} | {self.unknown}
        ordinary = sorted(set(self.backend.get_vocab().values()) - specials)
        return np.array([-1, -1 if self.unknown is None else self.unknown, *ordinary], dtype=np.int64)

    @cached_property
    def numbers(self) -> NDArray[np.int32]:
        """Our id for each of the tokenizer's."""
        ids = np.full(max(self.backend.get_vocab().values()) + 1, UNKNOWN, dtype=np.int32)
        ids[self.sources[SPECIALS:]] = np.arange(SPECIALS, len(self.sources))
        return ids

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(tuple(self.backend.id_to_token(int(number)) for number in self.sources[SPECIALS:]))

    @cached_property
    def lowercase(self) -> bool:
        """Whether the pretrained model lower-cases its input."""
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
        encoded: list[Indexed] = []
        for first, last in chunks([len(text) for text in texts]):  # outlines are larger than what is kept, too
            chunk = texts[first:last]
            encoded += self.indexed(chunk, [self.outline(text) for text in chunk])
        return encoded

    def indexed(self, texts: Sequence[str], outlines: Sequence[Outline]) -> list[Indexed]:
        ends = [np.cumsum(each.shape[0] if each.shape else [len(each.words)]).tolist() for each in outlines]
        rows = [
            Row(text, each.words, first, last)
            for text, each, row_ends in zip(texts, outlines, ends, strict=True)
            for first, last in pairwise((0, *row_ends))
        ]
        pieces = iter(self.cut(rows))
        return [joined(each, [*islice(pieces, len(row_ends))]) for each, row_ends in zip(outlines, ends, strict=True)]

    def encode_all(self, texts: Sequence[str]) -> Units:
        """The pieces of many texts, ignoring levels."""
        outlines = [self.outline(text) for text in texts]
        encoded = self.indexed(texts, outlines)
        counts = np.array([len(each.words) for each in outlines], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum([len(text.ids) for text in encoded], dtype=np.int64)])
        ids = np.concatenate([np.empty(0, dtype=np.int32), *(text.ids for text in encoded)])
        covers = np.concatenate(
            [np.empty((0, 2), dtype=np.int32), *(text.covers for text in encoded if text.covers is not None)]
        )
        return Units(ids, covers[:, 0], covers[:, 1], offsets, counts)

    def known(self, text: str, words: Sequence[Span], indexed: Indexed | None = None) -> list[bool]:
        """Which of a text's words are spelled out by known pieces; `indexed` is the encoded text, if available."""
        indexed = indexed or self.encode(text)
        assert indexed.covers is not None
        unknown = indexed.covers[indexed.ids == UNKNOWN]
        return [bool(known) for known in covered(indexed.covers, len(words)) & ~covered(unknown, len(words))]

    def cut(self, rows: Sequence[Row]) -> list[Pieces]:
        """The pieces of each row: the package tokenises many at a time, on all cores."""
        filled = [row for row in rows if row.first < row.last]
        parts = (filled[first:last] for first, last in chunks([row.length for row in filled]))
        pieces = chain.from_iterable(map(self._cut, parts))
        return [next(pieces) if row.first < row.last else NOTHING for row in rows]

    def _cut(self, rows: Sequence[Row]) -> list[Pieces]:
        """Tokenise all rows together: characters, words and pieces are numbered through all rows."""
        shown, positions = zip(*(normalised(row.written) for row in rows), strict=True)
        try:
            encodings = self.backend.encode_batch(shown, add_special_tokens=False)
        except BaseException as error:
            raise InputError(f"the tokenizer of the model cannot read a text ({failure(error)})") from None
        self.check_lengths(encodings)
        counts = np.array([len(encoding.ids) for encoding in encodings])  # (rows,) pieces
        offsets = np.cumsum([0, *(row.length + 1 for row in rows)])[:-1]  # (rows,) characters of the rows before
        at = np.concatenate([row + before for row, before in zip(positions, offsets, strict=True)])
        spans = np.concatenate([row.spans + before for row, before in zip(rows, offsets, strict=True)])  # (words, 2)

        first, last = ranges([row.last - row.first for row in rows], counts)  # (pieces,) the words of its row
        begin, end = ranges([len(text) for text in shown], counts)  # the characters of its row
        starts, ends = flat(chain.from_iterable(encoding.offsets for encoding in encodings)).reshape(-1, 2).T
        empty = ends <= starts
        starts, ends = at[np.minimum(begin + starts, end)], at[begin + (ends - 1).clip(min=0)] + 1
        low = np.searchsorted(spans[:, 1], starts, side="right")
        high = np.searchsorted(spans[:, 0], ends, side="left") - 1
        nowhere = empty | (high < low)  # a space: it belongs to the word before it
        low = np.where(nowhere, np.minimum(low - 1, high), low).clip(first, last)
        high = np.where(nowhere, low, high).clip(first, last)
        above = np.repeat([row.first for row in rows], counts) - first
        covers = np.stack((low + above, high + above), 1).astype(np.int32)

        ids = self.numbers[flat(encoding.ids for encoding in encodings)]
        stops = np.cumsum(counts)
        return [
            (ids[stop - count : stop], covers[stop - count : stop]) if count else unread(row)
            for row, count, stop in zip(rows, counts.tolist(), stops.tolist(), strict=True)
        ]

    def check_lengths(self, encodings: Sequence[Any]) -> None:
        longest = max(len(encoding.ids) for encoding in encodings)
        if self.longest is not None and longest > self.longest:
            raise InputError(
                f"expected a text of up to {self.longest} word pieces, the most that the pretrained model reads at once, "
                f"got {longest}; without window = 0 longer texts are read in several windows"
            )

    def to_json(self) -> str:
        row = {
            "format": FORMAT,
            "levels": self.levels,
            "lowercase": self.lowercase,
            "max_words": self.max_words,
            "longest": self.longest,
            "pieces": json.loads(self.definition),
        }
        return json.dumps(row, ensure_ascii=False, indent=0)

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> WordPieces:
        if row["format"] != FORMAT:
            raise ValueError(f"format: expected {FORMAT!r}, got {row['format']!r}")
        check_outline(row)
        longest = row["longest"]
        if longest is not None and (type(longest) is not int or longest < 1):
            raise ValueError(f"longest: expected a whole number from 1, or null, got {str(longest)[:40]}")
        pieces = cls(json.dumps(row["pieces"]), row["levels"], row["max_words"], longest)
        if pieces.lowercase != row["lowercase"]:
            raise ValueError(f"lowercase: expected {pieces.lowercase}, as in the word pieces, got {row['lowercase']}")
        return pieces


AnyTokenizer = Tokenizer | WordPieces


def tokenizer_from_dict(row: Mapping[str, Any]) -> AnyTokenizer:
    return WordPieces.from_dict(row) if row["format"] == FORMAT else Tokenizer.from_dict(row)


def chunks(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of items whose total size is at most CHUNK, or of a single larger item."""
    first, total = 0, 0
    for index, size in enumerate(sizes):
        if index > first and total + size > CHUNK:
            yield first, index
            first, total = index, 0
        total += size
    if first < len(sizes):
        yield first, len(sizes)


def joined(outline: Outline, rows: Sequence[Pieces]) -> Indexed:
    """One text from its rows."""
    ids, covers = rows[0] if len(rows) == 1 else (np.concatenate(part) for part in zip(NOTHING, *rows, strict=True))
    lengths = np.array([len(row[0]) for row in rows], dtype=np.int64)
    return Indexed(ids, (lengths, *outline.shape[1:]) if outline.shape else (), covers)


def unread(row: Row) -> Pieces:
    """One unknown piece for a row whose characters the tokenizer ignores, so that the row is not empty."""
    return np.array([UNKNOWN], dtype=np.int32), np.array([[row.first, row.last - 1]], dtype=np.int32)


def covered(covers: NDArray[np.int32], words: int) -> NDArray[np.bool_]:
    """(pieces, 2) -> (words,) whether a piece covers the word"""
    steps = np.bincount(covers[:, 0], minlength=words + 1) - np.bincount(covers[:, 1] + 1, minlength=words + 1)
    return np.cumsum(steps)[:words] > 0


def ranges(sizes: Sequence[int], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each piece the first and last item of its row, where items are numbered through all rows."""
    ends = np.cumsum(sizes)
    return np.repeat(ends - sizes, counts), np.repeat(ends - 1, counts)


def flat(lists: Iterable[Iterable[int]]) -> NDArray[np.int64]:
    return np.fromiter(chain.from_iterable(lists), np.int64)


def normalised(text: str) -> tuple[str, NDArray[np.int64]]:
    """The text as the tokenizer gets it, and the position of each of its characters in the original."""
    if not text.isascii():
        text = HALF_PAIR.sub("\ufffd", text)
    if not UNEVEN.search(text):
        return text, np.arange(len(text))
    kept = np.ones(len(text), dtype=bool)
    for match in UNEVEN.finditer(text):
        kept[match.start() + 1 : match.end()] = False
    return UNEVEN.sub(" ", text), np.flatnonzero(kept)
