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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed, Outline, Tokenizer, Units, outline
from regard.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary
from regard.data.words import LINE_BREAK
from regard.errors import InputError
from regard.records import Span

FORMAT = "regard pieces 1"
BLANKS = re.compile(rf"(?:\s|{LINE_BREAK.pattern})+", re.IGNORECASE)
UNEVEN = re.compile(r"\s\s|[^\S ]|<br", re.IGNORECASE)  # whether there is more to do than to look
HALF_PAIR = re.compile("[\ud800-\udfff]")  # no character, and the tokenizer takes none

Row = tuple[NDArray[np.int32], NDArray[np.int32]]  # ids (pieces,), covers (pieces, 2)


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
        found = np.full(int(self.sources.max()) + 1, UNKNOWN, dtype=np.int32)
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
        found = self.outline(text)
        ends = np.cumsum(found.shape[0] if found.shape else [len(found.words)])
        rows = [self.cut(text, found.words, first, last) for first, last in zip((0, *ends), ends, strict=False)]
        ids = np.concatenate([np.empty(0, dtype=np.int32), *(row[0] for row in rows)])
        covers = np.concatenate([np.empty((0, 2), dtype=np.int32), *(row[1] for row in rows)])
        lengths = np.array([len(row[0]) for row in rows], dtype=np.int64)
        return Indexed(ids, (lengths, *found.shape[1:]) if found.shape else (), covers)

    def encode_all(self, texts: Sequence[str]) -> Units:
        """The pieces of many texts, without levels."""
        found = [self.encode(text) for text in texts]
        counts = np.array([len(self.outline(text).words) for text in texts], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum([len(text.ids) for text in found], dtype=np.int64)])
        ids = np.concatenate([np.empty(0, dtype=np.int32), *(text.ids for text in found)])
        covers = np.concatenate(
            [np.empty((0, 2), dtype=np.int32), *(text.covers for text in found if text.covers is not None)]
        )
        return Units(ids, covers[:, 0], covers[:, 1], offsets, counts)

    def known(self, text: str, words: Sequence[Span]) -> list[bool]:
        """Which of a text's words the pieces spell out."""
        found = self.encode(text)
        assert found.covers is not None
        spelt, missed = (np.zeros(len(words), dtype=bool) for _ in range(2))
        for number, (first, last) in zip(found.ids, found.covers, strict=True):
            spelt[first : last + 1] = True
            missed[first : last + 1] |= number == UNKNOWN
        return [bool(own) for own in spelt & ~missed]

    def cut(self, text: str, words: Sequence[Span], first: int, last: int) -> Row:
        """The pieces of the words [first, last), which are read as one row."""
        if first == last:
            return np.empty(0, dtype=np.int32), np.empty((0, 2), dtype=np.int32)
        shown, places = evened(text[words[first][0] : words[last - 1][1]])
        found = self.backend.encode(shown, add_special_tokens=False)
        if not found.ids:  # characters that the tokenizer passes over; the row is there all the same
            return np.array([UNKNOWN], dtype=np.int32), np.array([[first, last - 1]], dtype=np.int32)
        if self.longest is not None and len(found.ids) > self.longest:
            raise InputError(
                f"a text of {len(found.ids)} word pieces is longer than the {self.longest} that the pretrained model reads "
                "together, and window = 0 refuses it; without it the text is read in several windows"
            )
        starts, ends = np.array(found.offsets, dtype=np.int64).T
        empty = ends <= starts
        starts, ends = places[starts.clip(max=len(places) - 1)], places[(ends - 1).clip(min=0)] + 1
        own = np.array(words[first:last], dtype=np.int64) - words[first][0]
        low = np.searchsorted(own[:, 1], starts, side="right")
        high = np.searchsorted(own[:, 0], ends, side="left") - 1
        nowhere = empty | (high < low)  # a blank: it belongs to the word before it
        low = np.where(nowhere, np.minimum(low - 1, high), low).clip(0, last - first - 1)
        high = np.where(nowhere, low, high).clip(0, last - first - 1)
        return self.numbers[found.ids], (np.stack((low, high), 1) + first).astype(np.int32)

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


def evened(text: str) -> tuple[str, NDArray[np.int64]]:
    """The text as the tokenizer is to see it, and where each of its characters stands in the text."""
    text = HALF_PAIR.sub("\ufffd", text)
    if not UNEVEN.search(text):
        return text, np.arange(len(text))
    kept = np.ones(len(text), dtype=bool)
    for match in BLANKS.finditer(text):
        kept[match.start() + 1 : match.end()] = False
    return BLANKS.sub(" ", text), np.flatnonzero(kept)
