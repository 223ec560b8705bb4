"""From indexed words to what the sparse engine trains on: the vocabulary, pairs and beginnings, and texts as unit ids."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regard.config import Data
from regard.data.corpus_ids import CorpusIds, CorpusIndexer
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import LONGEST, UNKNOWN, Vocabulary
from regard.kernels.pairs import PairCounts, join, split
from regard.kernels.units import distinct, find_units
from regard.training.defaults import MAX_PAIRS

CHUNK = 1 << 20  # words processed together
IN_MEMORY = 1 << 24  # words whose units stay in memory; for a longer corpus they are computed again in every epoch
MIXED = 16  # ranges of a long corpus from which one block of training texts is drawn


class UnitIndexer:
    """Learns the vocabulary from the texts `kept` of a part, and turns indexed words into unit ids.

    Words in `always_keep` need not occur `min_count` times. The units of a `known` tokenizer come before new ones of their
    kind, in their order.
    """

    def __init__(
        self,
        corpus: CorpusIndexer,
        part: CorpusIds,
        kept: NDArray[np.bool_],
        data: Data,
        always_keep: Container[str],
        known: Tokenizer | None = None,
    ):
        known = known or Tokenizer(Vocabulary(()))
        self.threads = ThreadPoolExecutor(2)
        words = corpus.dictionary.words()
        counts = np.zeros(len(words) + 1, dtype=np.int64)  # the last entry counts forgotten words, whose number is −1
        offsets = part.offsets
        for rows in chunks(offsets):
            numbers = kept_words(part, offsets, rows, kept)[0]
            counts += np.bincount(np.where(numbers < 0, len(words), numbers), minlength=len(words) + 1)
        frequent = [
            number
            for number in np.flatnonzero(counts[:-1]).tolist()
            if (counts[number] >= data.min_count or words[number] in always_keep)
            and len(words[number]) <= LONGEST
            and words[number] not in known.vocabulary
        ]
        frequent.sort(key=words.__getitem__)
        frequent = [frequent[index] for index in np.argsort(-counts[frequent], kind="stable").tolist()]
        if data.max_vocabulary is not None:
            frequent = frequent[: max(0, data.max_vocabulary - len(known.vocabulary.words))]
        vocabulary = Vocabulary((*known.vocabulary.words, *(words[number] for number in frequent)))
        # the unit ids of each indexed word and of its beginning
        self.word_ids = np.full(len(words) + 1, UNKNOWN, dtype=np.int32)
        self.word_ids[:-1] = vocabulary.ids(words)
        self.beginning_ids = np.zeros(len(words) + 1, dtype=np.int32)
        beginnings = self.learn_beginnings(words, counts, data, known.beginnings, len(vocabulary))
        pairs = known.pairs
        if data.pairs:
            pairs = self.learn_pairs(part, kept, data.min_count, known.pairs)
        self.tokenizer = Tokenizer(
            vocabulary, 1, corpus.lowercase, corpus.max_words, data.beginnings, beginnings, pairs
        )

    def with_words(self, words: Sequence[str], corpus: CorpusIndexer) -> UnitIndexer:
        """The same with more words, which come after the known ones; beginnings and pairs are those that it has."""
        known = self.tokenizer.vocabulary
        added = tuple(word for word in words if word not in known and len(word) <= LONGEST)
        other = copy(self)
        other.tokenizer = replace(self.tokenizer, vocabulary=Vocabulary((*known.words, *added)))
        other.word_ids = np.append(other.tokenizer.vocabulary.ids(corpus.dictionary.words()), np.int32(UNKNOWN))
        other.beginning_ids = np.where(self.beginning_ids > 0, self.beginning_ids + np.int32(len(added)), np.int32(0))
        return other

    def learn_beginnings(
        self, words: list[str], counts: NDArray[np.int64], data: Data, known: tuple[str, ...], first_id: int
    ) -> tuple[str, ...]:
        letters = data.beginnings
        if not letters:
            return ()
        codes: dict[str, int] = {}  # of beginnings, in order of their first word
        longer = [number for number, word in enumerate(words) if letters < len(word)]
        begun = np.array([codes.setdefault(words[number][:letters], len(codes)) for number in longer], dtype=np.int64)
        totals = np.zeros(len(codes), dtype=np.int64)
        np.add.at(totals, begun, counts[longer])
        earlier = set(known)
        sums = zip(codes, totals.tolist(), strict=True)
        new = sorted((-total, b) for b, total in sums if total >= data.min_count and b not in earlier)
        beginnings = (*known, *(beginning for _, beginning in new))
        units = np.zeros(len(codes), dtype=np.int32)
        for unit, beginning in enumerate(beginnings, first_id):
            if beginning in codes:
                units[codes[beginning]] = unit
        self.beginning_ids[longer] = units[begun]
        return beginnings

    def learn_pairs(
        self, part: CorpusIds, kept: NDArray[np.bool_], min_count: int, known: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        counts = PairCounts()
        offsets = part.offsets
        for rows in chunks(offsets):
            numbers, bounds = kept_words(part, offsets, rows, kept)
            words = self.word_ids[numbers]
            counts.add(words, bounds, self.threads.map)
        keys = counts.frequent(min_count, MAX_PAIRS)[0]
        if len(known):
            keys = keys[~np.isin(keys, join(known[:, 0], known[:, 1]))][: max(0, MAX_PAIRS - len(known))]
        return np.concatenate([known, np.stack(split(keys), axis=1).astype(np.int64)])

    def units(
        self, words: NDArray[np.int32], offsets: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """From indexed words to unit ids, text after text, and the offsets of the texts."""
        ids = self.word_ids[words]
        if not self.tokenizer.has_units:
            return ids, offsets
        units, _, _, bounds = find_units(ids, self.beginning_ids[words], offsets, self.tokenizer.pair_table)
        return units, bounds

    def texts(
        self,
        part: CorpusIds,
        kept: NDArray[np.bool_],
        labels: NDArray[np.float32],
        weights: NDArray[np.float32] | None = None,
    ) -> UnitTexts:
        """The texts of a part that are kept: the distinct units of each, with counts."""
        offsets = part.offsets
        ranges = list(chunks(offsets))
        blocks = list(self.threads.map(lambda rows: self.block(part, offsets, rows, kept), ranges))
        return joined(blocks, labels[kept], None if weights is None else weights[kept], self.threads.map)

    def block(
        self, part: CorpusIds, offsets: NDArray[np.int64], rows: slice, kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]]:
        return distinct(*self.units(*kept_words(part, offsets, rows, kept)), len(self.tokenizer))


def chunks(offsets: NDArray[np.int64], size: int = CHUNK) -> Iterator[slice]:
    """Ranges of texts with about `size` words each."""
    start, texts = 0, len(offsets) - 1
    while start < texts:
        stop = max(start + 1, int(np.searchsorted(offsets, offsets[start] + size, side="right")) - 1)
        yield slice(start, stop)
        start = stop


def kept_words(
    part: CorpusIds, offsets: NDArray[np.int64], rows: slice, kept: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    words = part.words.read(int(offsets[rows.start]), int(offsets[rows.stop]))
    lengths, is_kept = np.diff(offsets[rows.start : rows.stop + 1]), kept[rows]
    if not is_kept.all():
        words, lengths = words[np.repeat(is_kept, lengths)], lengths[is_kept]
    bounds = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return words, bounds


def joined(
    blocks: list[tuple[NDArray[np.int32], NDArray[np.uint16], NDArray[np.int64]]],
    labels: NDArray[np.float32],
    weights: NDArray[np.float32] | None,
    run: Callable[..., Iterable[None]] = map,
) -> UnitTexts:
    """`run` is `map`, or that of an executor: most of the time is spent in getting new memory."""
    units = np.cumsum([0, *(len(ids) for ids, _, _ in blocks)]).tolist()
    texts = np.cumsum([0, *(len(bounds) - 1 for _, _, bounds in blocks)]).tolist()
    ids, counts = np.empty(units[-1], dtype=np.int32), np.empty(units[-1], dtype=np.uint16)
    offsets = np.zeros(texts[-1] + 1, dtype=np.int64)

    def copy_block(number: int) -> None:
        own, rows = slice(*units[number : number + 2]), slice(*(1 + row for row in texts[number : number + 2]))
        ids[own], counts[own], bounds = blocks[number]
        np.add(bounds[1:], units[number], out=offsets[rows])

    for _ in run(copy_block, range(len(blocks))):
        pass
    return UnitTexts(ids, counts, offsets, labels, weights)


class TextSource:
    """Training texts, all in memory or block by block. `weights` are those of their losses."""

    def __init__(
        self,
        indexer: UnitIndexer,
        part: CorpusIds,
        kept: NDArray[np.bool_],
        labels: NDArray[np.float32],
        weights: NDArray[np.float32] | None = None,
    ):
        self.indexer, self.part, self.kept, self.labels, self.weights = indexer, part, kept, labels, weights
        self.size = int(kept.sum())
        self.whole = indexer.texts(part, kept, labels, weights) if len(part.words) <= IN_MEMORY else None
        self.rows = np.arange(self.size)  # of `whole`

    def without(self, held: NDArray[np.bool_]) -> TextSource:
        """The same texts without those held out, sharing the memory."""
        kept = self.kept & ~held
        if self.whole is None:
            return TextSource(self.indexer, self.part, kept, self.labels, self.weights)
        source = copy(self)
        source.kept, source.rows, source.size = kept, np.flatnonzero(kept[self.kept]), int(kept.sum())
        return source

    def some(self) -> UnitTexts:
        """All texts, or one block of them."""
        return next(self.blocks(np.random.default_rng(0)))[0]

    def blocks(self, rng: np.random.Generator) -> Iterator[tuple[UnitTexts, NDArray[np.int64]]]:
        """Every text once: texts, and which of them belong to the source.

        Blocks of a long corpus are mixed from several ranges, because it may be sorted by label.
        """
        if self.whole is not None:
            yield self.whole, self.rows
            return
        offsets = self.part.offsets
        ranges = list(chunks(offsets, CHUNK // MIXED))
        order = rng.permutation(len(ranges))
        for start in range(0, len(order), MIXED):
            mixed = [ranges[index] for index in order[start : start + MIXED]]
            blocks = [self.indexer.block(self.part, offsets, rows, self.kept) for rows in mixed]
            kept = np.concatenate([rows.start + np.flatnonzero(self.kept[rows]) for rows in mixed])
            texts = joined(blocks, self.labels[kept], None if self.weights is None else self.weights[kept])
            yield texts, np.arange(len(texts.labels))
