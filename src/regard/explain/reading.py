"""Texts as a model reads them: a sequence of ids, and the words of the text that each of them covers."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed, Outline, Units
from regard.data.wordpieces import WordPieces
from regard.errors import InputError
from regard.models.trained import BATCH, Trained, logits, to_device

if TYPE_CHECKING:
    from regard.values import Batch

Doubles = NDArray[np.float64]
Ints = NDArray[np.int64]
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


def read(trained: Trained, texts: Sequence[str]) -> list[Reading]:
    tokenizer = trained.tokenizer
    outlines = [tokenizer.outline(text) for text in texts]
    if isinstance(tokenizer, WordPieces):
        indexed = tokenizer.indexed(texts, outlines)
    elif not tokenizer.has_units:
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


def logits_of(trained: Trained, texts: Iterable[Indexed]) -> Doubles:
    """(texts, C), in their order; the texts are consumed in parts, so that there may be very many."""
    parts = [np.zeros((0, trained.task.out_dim))]
    held: list[Indexed] = []
    size = 0
    for text in texts:
        held.append(text)
        size += len(text.ids) + 1
        if size > HELD:
            parts.append(logits(trained.model, trained.task, held))
            held, size = [], 0
    return np.concatenate([*parts, logits(trained.model, trained.task, held)])
