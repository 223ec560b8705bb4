"""A corpus of any length as word ids: texts are read once, in blocks, and only ids are kept for training."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from regard.data.labels import Labels
from regard.data.packing import pack
from regard.data.spilling_array import SpillingArray
from regard.kernels.dictionary import Dictionary
from regard.kernels.scanner import Scratch, find_words
from regard.kernels.units import cut
from regard.records import Example

BLOCK = 4096  # texts packed together
MOST_WORDS = 1 << 22  # distinct words; beyond that, the rarest are dropped


class CorpusIds:
    """The texts of one split as word ids, numbered by first occurrence; −1 stands for dropped words."""

    def __init__(self) -> None:
        self.words = SpillingArray(np.int32)
        self.labels = Labels()
        self.shortened = 0  # texts cut at max_words
        self._lengths: list[NDArray[np.int64]] = []
        self._weights: list[NDArray[np.float64]] = []
        self._digest = hashlib.sha256()

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the words of each text begin, and where those of the last one end."""
        return np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *self._lengths]))

    @property
    def digest(self) -> str:
        """Identifies the texts, their labels and their weights."""
        hashed = self._digest.copy()
        if self.weights is not None:
            hashed.update(self.weights.tobytes())
        return hashed.hexdigest()

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """How much each text counts; None if all count 1."""
        weights = np.concatenate([np.ones(0), *self._weights])
        return None if (weights == 1).all() else weights

    def __len__(self) -> int:
        return len(self.labels)


class CorpusIndexer:
    """Indexes the splits of a corpus with one dictionary."""

    def __init__(self, lowercase: bool, max_words: int | None) -> None:
        self.lowercase, self.max_words = lowercase, max_words
        self.dictionary = Dictionary()
        self.parts: list[CorpusIds] = []
        self._scratch = Scratch()

    def read(self, examples: Iterable[Example]) -> CorpusIds:
        """A block is indexed by another thread while the next one is read: most of either runs without Python's lock."""
        part = CorpusIds()
        self.parts.append(part)
        with ThreadPoolExecutor(1) as thread:
            indexing: Future[None] | None = None
            for block in blocks(examples):
                for example in block:
                    part.labels.add(example)
                part._weights.append(np.array([example.weight for example in block]))
                if indexing is not None:
                    indexing.result()
                indexing = thread.submit(self._index, part, block)
            if indexing is not None:
                indexing.result()
        return part

    def _index(self, part: CorpusIds, block: list[Example]) -> None:
        content = "\0".join([f"{example.label}\0{example.text}" for example in block])
        part._digest.update(content.encode("utf-8", "surrogatepass"))
        del content
        data, offsets = pack([example.text for example in block], self.lowercase)
        starts, ends, counts = find_words(data, offsets, self.lowercase, self._scratch)
        if self.max_words is not None:
            part.shortened += int((counts > self.max_words).sum())
            starts, ends, counts = cut(starts, ends, counts, self.max_words)
        part.words.append(self.dictionary.add(data, starts, ends))
        part._lengths.append(counts)
        if len(self.dictionary) > MOST_WORDS:
            numbers = self.dictionary.prune(MOST_WORDS)
            for other in self.parts:
                other.words.renumber(numbers)


def blocks(examples: Iterable[Example]) -> Iterator[list[Example]]:
    remaining = iter(examples)
    while block := list(islice(remaining, BLOCK)):
        yield block
