"""Texts read once, in blocks, and kept as numbers: what a corpus of any length comes to before it is trained on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from regard.data.labels import Labels
from regard.data.packing import pack
from regard.data.spill import Spill
from regard.kernels.dictionary import Dictionary
from regard.kernels.scanner import find_words
from regard.kernels.units import cut
from regard.records import Example

BLOCK = 4096  # texts packed together
MOST_WORDS = 1 << 22  # different words; beyond, the rarest are forgotten


class Gathered:
    """The texts of one part (train, dev or test) as numbers of words in order of first coming, −1 for forgotten ones."""

    def __init__(self) -> None:
        self.words = Spill(np.int32)
        self.labels = Labels()
        self.shortened = 0  # texts that max_words cut
        self._lengths: list[NDArray[np.int64]] = []
        self._digest = hashlib.sha256()

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each text's words begin, and where the last one's end."""
        return np.cumsum(np.concatenate([np.zeros(1, dtype=np.int64), *self._lengths]))

    @property
    def digest(self) -> str:
        """Tells texts and labels apart from others."""
        return self._digest.hexdigest()

    def __len__(self) -> int:
        return len(self.labels)


class Gathering:
    """Reads parts of a corpus with one dictionary."""

    def __init__(self, lowercase: bool, max_words: int | None) -> None:
        self.lowercase, self.max_words = lowercase, max_words
        self.dictionary = Dictionary()
        self.parts: list[Gathered] = []

    def read(self, examples: Iterable[Example]) -> Gathered:
        part = Gathered()
        self.parts.append(part)
        for block in blocks(examples):
            for example in block:
                part.labels.add(example)
            texts = [example.text for example in block]
            said = "\0".join([f"{example.label}\0{example.text}" for example in block])
            part._digest.update(said.encode("utf-8", "surrogatepass"))
            data, offsets = pack(texts, self.lowercase)
            starts, ends, counts = find_words(data, offsets, self.lowercase)
            if self.max_words is not None:
                part.shortened += int((counts > self.max_words).sum())
                starts, ends, counts = cut(starts, ends, counts, self.max_words)
            part.words.append(self.dictionary.add(data, starts, ends))
            part._lengths.append(counts)
            if len(self.dictionary) > MOST_WORDS:
                numbers = self.dictionary.prune(MOST_WORDS)
                for other in self.parts:
                    other.words.renumber(numbers)
        return part


def blocks(examples: Iterable[Example]) -> Iterator[list[Example]]:
    several = iter(examples)
    while block := list(islice(several, BLOCK)):
        yield block
