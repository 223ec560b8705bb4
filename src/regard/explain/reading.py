"""Texts as a model reads them: a sequence of ids, and the words of the text that each of them covers; also without some words.

Of a text without some of its words, the remaining words and their sentences stay the same; sentences and parts that lose all
their words disappear. If the model reads pairs of neighbours, words that become neighbours form a pair.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.characters import Characters
from regard.data.tokenizer import Indexed, Outline, Tokenizer, Units
from regard.data.wordpieces import Row, WordPieces
from regard.errors import InputError
from regard.explain.removal import Kept, only, remaining
from regard.kernels.pairs import UNKNOWN
from regard.models.model import Model
from regard.models.trained import BATCH, Trained, to_device

if TYPE_CHECKING:
    from regard.values import Batch

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
CHUNK = 256  # versions of a text without some of its words that are built at a time
HELD = 1 << 21  # ids in memory at a time, of texts without some of their words


class Reading(NamedTuple):
    """A text, where its words are, and the units that the model looks at: words, pairs of words, or word pieces."""

    text: str
    outline: Outline
    indexed: Indexed
    first: Ints  # (units,) the first word of the text that a unit covers
    last: Ints  # (units,) the last one

    @property
    def words(self) -> int:
        return len(self.outline.words)

    def rng(self, seed: int) -> np.random.Generator:
        """A generator that depends on the seed and this text, not on the texts around it."""
        if not isinstance(seed, int) or seed < 0:
            raise InputError(f"seed: expected a whole number of at least 0, got {seed!r}")
        return np.random.default_rng((seed, zlib.crc32(self.text.encode("utf-8", "surrogatepass"))))


def check_texts(texts: Sequence[str], name: str = "texts") -> None:
    if isinstance(texts, str):
        raise InputError(f"{name}: expected a list of texts, got a single string")
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{name}, number {number}: expected a string, got {type(text).__name__}")


def read(trained: Model, texts: Sequence[str]) -> list[Reading]:
    tokenizer = trained.tokenizer
    outlines = [tokenizer.outline(text) for text in texts]
    if isinstance(tokenizer, WordPieces):
        indexed = tokenizer.indexed(texts, outlines)
    elif isinstance(tokenizer, Characters) or not tokenizer.has_units:
        indexed = tokenizer.encode_each(texts)
    else:
        indexed = each(tokenizer.encode_all(texts))
    readings = []
    for text, outline, ids in zip(texts, outlines, indexed, strict=True):
        words = np.arange(len(ids.ids))
        first, last = (words, words) if ids.covers is None else ids.covers.T.astype(np.int64)
        readings.append(Reading(text, outline, ids, first, last))
    return readings


def each(units: Units) -> list[Indexed]:
    """The texts one by one."""
    covers = np.stack((units.first, units.last), 1)
    return [Indexed(units.ids[low:high], (), covers[low:high]) for low, high in pairwise(units.offsets.tolist())]


def to_words(reading: Reading, scores: Doubles) -> Doubles:
    """Scores of words from scores of units: the score of a unit goes in equal parts to the words that it covers."""
    widths = reading.last - reading.first + 1
    before = np.cumsum(widths) - widths
    words = np.arange(int(widths.sum())) + np.repeat(reading.first - before, widths)
    return np.asarray(np.bincount(words, np.repeat(scores / widths, widths), reading.words), dtype=np.float64)


def batches(trained: Trained, readings: Sequence[Reading], size: int | None = None) -> Iterator[tuple[Ints, Batch]]:
    """Every text once, texts of similar length together: (row numbers, batch on the model's device)."""
    from regard.data.collate import collate, in_order

    model = trained.model.eval()
    device, levels = model.embedding.weight.device, len(model.levels)
    texts = [reading.indexed for reading in readings]
    for rows in in_order(texts, size or BATCH):
        yield rows, to_device(collate([texts[row] for row in rows], levels), device)


def logits_of(trained: Model, texts: Iterable[Indexed]) -> Doubles:
    """(texts, C), in their order; the texts are consumed in parts, so that there may be very many."""
    parts = [np.zeros((0, trained.task.out_dim))]
    held: list[Indexed] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text.ids) + 1
        if size > HELD:
            parts.append(trained.logits(held))
            held, size = [], 0
    return np.concatenate([*parts, trained.logits(held)])


def left(trained: Model, reading: Reading, kept: Kept) -> list[Indexed]:
    """(versions, words) -> one text per version, with only the words that its row keeps."""
    tokenizer = trained.tokenizer
    if isinstance(tokenizer, Characters):
        return tokenizer.without(reading.text, reading.outline.words, kept)
    if isinstance(tokenizer, WordPieces):
        return in_pieces(tokenizer, reading, kept)
    if tokenizer.has_units:
        return in_units(tokenizer, reading, kept)
    return [only(reading.indexed, row) for row in kept]


def in_units(tokenizer: Tokenizer, reading: Reading, kept: Kept) -> list[Indexed]:
    """From the ids of the words that are left: to read the rest as a text could join its characters into other words."""
    ids, first = reading.indexed.ids, reading.first
    is_word = ids < len(tokenizer.vocabulary)
    is_beginning = ~is_word & (ids < tokenizer.singles)
    words, beginnings = np.full(reading.words, UNKNOWN, dtype=np.int32), np.zeros(reading.words, dtype=np.int32)
    words[first[is_word]], beginnings[first[is_beginning]] = ids[is_word], ids[is_beginning]
    version, word = np.nonzero(kept)
    counts = np.bincount(version, minlength=len(kept)).astype(np.int64)
    return each(tokenizer.units_of(words[word], beginnings[word], counts))


def in_pieces(tokenizer: WordPieces, reading: Reading, kept: Kept) -> list[Indexed]:
    """Pieces depend on the neighbours of a word, so the rest of each sentence is cut into pieces again."""
    shape = reading.outline.shape
    ends = np.cumsum(shape[0] if shape else [reading.words]).tolist()
    rows = [*pairwise([0, *ends])]
    shown = [[written(reading, version, row) for row in rows if version[slice(*row)].any()] for version in kept]
    once = [*dict.fromkeys(chain.from_iterable(shown))]  # most sentences stay as they are
    cut = dict(zip(once, tokenizer.cut([Row(text, [(0, len(text))], 0, 1) for text in once]), strict=True))
    texts = []
    for version, sentences in zip(kept, shown, strict=True):
        pieces = [cut[sentence][0] for sentence in sentences]
        lengths = np.array([len(ids) for ids in pieces], dtype=np.int64)
        above = remaining(shape, version)[1:]
        ids = np.concatenate([np.empty(0, dtype=np.int32), *pieces])
        texts.append(Indexed(ids, (lengths, *above) if shape else ()))
    return texts


def written(reading: Reading, kept: Kept, row: tuple[int, int]) -> str:
    """The words [first, last) and what is between them, with a blank in place of each word that is left out."""
    first, last = row
    spans = reading.outline.words[first:last]
    erased = [spans[index] for index in np.flatnonzero(~kept[first:last])]
    edges = [(0, spans[0][0]), *erased, (spans[-1][1], 0)]
    return " ".join(reading.text[a:b] for (_, a), (b, _) in pairwise(edges)).strip()
