"""From gathered words to what the sparse engine trains on: the vocabulary, pairs and beginnings, and texts as units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from regard.config import Data
from regard.data.gathering import Gathered, Gathering
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import LONGEST, SPECIALS, UNKNOWN, Vocabulary
from regard.kernels.pairs import PARTS, PairCounts, split
from regard.kernels.units import distinct, find_units
from regard.training.choices import MOST_PAIRS

CHUNK = 1 << 20  # words looked at together
IN_MEMORY = 1 << 24  # words whose units are kept; of more they are found again in every epoch
MIXED = 16  # places of a long corpus from which one block of training texts is drawn


class Numbering:
    """Which unit each gathered word is: its own, and that of its beginning."""

    def __init__(self, gathering: Gathering, part: Gathered, kept: NDArray[np.bool_], data: Data, keep: Container[str]):
        self.threads = ThreadPoolExecutor(2)
        words = gathering.dictionary.words()
        counts = np.zeros(len(words) + 1, dtype=np.int64)  # the last is for forgotten words, whose number is −1
        offsets = part.offsets
        for rows in chunks(offsets):
            own = kept_words(part, offsets, rows, kept)[0]
            counts += np.bincount(np.where(own < 0, len(words), own), minlength=len(words) + 1)
        found = [
            number
            for number in np.flatnonzero(counts[:-1]).tolist()
            if (counts[number] >= data.min_count or words[number] in keep) and len(words[number]) <= LONGEST
        ]
        found.sort(key=lambda number: (-counts[number], words[number]))
        found = found[: data.max_vocabulary]
        vocabulary = Vocabulary(tuple(words[number] for number in found))
        self.word_of = np.full(len(words) + 1, UNKNOWN, dtype=np.int32)
        self.word_of[found] = np.arange(SPECIALS, SPECIALS + len(found))
        beginnings = self.learn_beginnings(words, counts, data.beginnings, data.min_count, len(vocabulary))
        pairs = np.empty((0, 2), dtype=np.int64)
        if data.pairs:
            pairs = self.learn_pairs(part, kept, data.min_count)
        self.tokenizer = Tokenizer(
            vocabulary, 1, gathering.lowercase, gathering.max_words, data.beginnings, beginnings, pairs
        )

    def learn_beginnings(
        self, words: list[str], counts: NDArray[np.int64], letters: int, least: int, first: int
    ) -> tuple[str, ...]:
        self.beginning_of = np.zeros(len(words) + 1, dtype=np.int32)
        if not letters:
            return ()
        longer = [(number, word[:letters]) for number, word in enumerate(words) if letters < len(word)]
        totals: Counter[str] = Counter()
        for number, beginning in longer:
            totals[beginning] += int(counts[number])
        frequent = sorted((b for b, count in totals.items() if count >= least), key=lambda b: (-totals[b], b))
        numbers = {beginning: number for number, beginning in enumerate(frequent, first)}
        for number, beginning in longer:
            self.beginning_of[number] = numbers.get(beginning, 0)
        return tuple(frequent)

    def learn_pairs(self, part: Gathered, kept: NDArray[np.bool_], least: int) -> NDArray[np.int64]:
        counts = PairCounts()
        offsets = part.offsets
        for rows in chunks(offsets):
            own, bounds = kept_words(part, offsets, rows, kept)
            words = self.word_of[own]
            list(self.threads.map(partial(counts.add, words, bounds), range(PARTS)))
        return np.stack(split(counts.frequent(least, MOST_PAIRS)[0]), axis=1).astype(np.int64)

    def units(
        self, words: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Texts of gathered words as units, one behind the other, and where each text's begin."""
        own = self.word_of[words]
        if not self.tokenizer.has_units:
            return own, offsets
        found = find_units(own, self.beginning_of[words], offsets, self.tokenizer._pairs)
        return found[0], found[3]

    def texts(self, part: Gathered, kept: NDArray[np.bool_], labels: NDArray[np.float32]) -> UnitTexts:
        """All texts of a part that are kept, with different units counted."""
        offsets = part.offsets
        ranges = list(chunks(offsets))
        found = list(self.threads.map(lambda rows: self.block(part, offsets, rows, kept), ranges))
        return joined(found, labels[kept])

    def block(
        self, part: Gathered, offsets: NDArray[np.int64], rows: slice, kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]]:
        return distinct(*self.units(*kept_words(part, offsets, rows, kept)), len(self.tokenizer))


def chunks(offsets: NDArray[np.int64], size: int = CHUNK) -> Iterator[slice]:
    """Ranges of texts with about so many words each."""
    start, texts = 0, len(offsets) - 1
    while start < texts:
        stop = max(start + 1, int(np.searchsorted(offsets, offsets[start] + size, side="right")) - 1)
        yield slice(start, stop)
        start = stop


def kept_words(
    part: Gathered, offsets: NDArray[np.int64], rows: slice, kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    words = part.words.read(int(offsets[rows.start]), int(offsets[rows.stop]))
    lengths, wanted = np.diff(offsets[rows.start : rows.stop + 1]), kept[rows]
    if not wanted.all():
        words, lengths = words[np.repeat(wanted, lengths)], lengths[wanted]
    bounds = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return words, bounds


def joined(
    blocks: list[tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]]], labels: NDArray[np.float32]
) -> UnitTexts:
    starts = np.cumsum([0, *(len(ids) for ids, _, _ in blocks)])
    offsets = [np.zeros(1, dtype=np.int64)]
    offsets += [bounds[1:] + start for (_, _, bounds), start in zip(blocks, starts[:-1], strict=True)]
    return UnitTexts(
        np.concatenate([ids for ids, _, _ in blocks]),
        np.concatenate([counts for _, counts, _ in blocks]),
        np.concatenate(offsets),
        labels,
    )


class Source:
    """Training texts, all in memory or block by block."""

    def __init__(self, numbering: Numbering, part: Gathered, kept: NDArray[np.bool_], labels: NDArray[np.float32]):
        self.numbering, self.part, self.kept, self.labels = numbering, part, kept, labels
        self.size = int(kept.sum())
        self.whole = numbering.texts(part, kept, labels) if len(part.words) <= IN_MEMORY else None

    def blocks(self, chance: np.random.Generator) -> Iterator[UnitTexts]:
        """Every text once. A long corpus comes in blocks mixed from several places, for it may be sorted by label."""
        if self.whole is not None:
            yield self.whole
            return
        offsets = self.part.offsets
        ranges = list(chunks(offsets, CHUNK // MIXED))
        order = chance.permutation(len(ranges))
        for start in range(0, len(order), MIXED):
            own = [ranges[place] for place in order[start : start + MIXED]]
            found = [self.numbering.block(self.part, offsets, rows, self.kept) for rows in own]
            yield joined(found, np.concatenate([self.labels[rows][self.kept[rows]] for rows in own]))
