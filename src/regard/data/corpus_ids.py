"""A corpus of any length as word ids: texts are read once, in blocks, and only ids are kept for training."""

from __future__ import annotations

import hashlib
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from itertools import islice
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from regard.data.labels import Labels
from regard.data.packing import pack
from regard.kernels.dictionary import Dictionary
from regard.kernels.scanner import find_words
from regard.kernels.units import cut
from regard.records import Example

BLOCK = 4096  # texts packed together
MOST_WORDS = 1 << 22  # distinct words; beyond that, the rarest are dropped
IN_MEMORY = 1 << 26  # bytes of word ids that stay in memory


class SpillingArray:
    """An array that grows at its end and is read by ranges: in memory while it is short, then in a temporary file.

    The file has no name and disappears with the process, however that ends.
    """

    def __init__(self, dtype: Any, most: int = IN_MEMORY) -> None:
        self.dtype, self.most = np.dtype(dtype), most
        self._parts: list[NDArray[Any]] = []
        self._file: IO[bytes] | None = None
        self._size = 0
        self._reading = Lock()  # several threads read, but a file has one position

    def __len__(self) -> int:
        return self._size

    def append(self, values: NDArray[Any]) -> None:
        values = np.ascontiguousarray(values, dtype=self.dtype)
        self._size += len(values)
        if self._file is None and self._size * self.dtype.itemsize > self.most:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as this object)
            weakref.finalize(self, self._file.close)
            for part in self._parts:
                self._file.write(part.tobytes())
            self._parts = []
        if self._file is None:
            self._parts.append(values)
        else:
            self._file.seek(0, 2)
            self._file.write(values.tobytes())

    def read(self, start: int, stop: int) -> NDArray[Any]:
        if self._file is not None:
            with self._reading:
                self._file.seek(start * self.dtype.itemsize)
                raw = self._file.read((stop - start) * self.dtype.itemsize)
            return np.frombuffer(raw, dtype=self.dtype)
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.empty(0, self.dtype), *self._parts])]
        part: NDArray[Any] = self._parts[0][start:stop]
        return part

    def renumber(self, numbers: NDArray[Any], chunk: int = 1 << 22) -> None:
        """Replace every value except −1 by `numbers[value]`."""
        for start in range(0, self._size, chunk):
            values = self.read(start, min(start + chunk, self._size))
            changed = np.where(values < 0, -1, numbers[values]).astype(self.dtype)
            if self._file is None:
                values[:] = changed
            else:
                self._file.seek(start * self.dtype.itemsize)
                self._file.write(changed.tobytes())


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

    def read(self, examples: Iterable[Example]) -> CorpusIds:
        part = CorpusIds()
        self.parts.append(part)
        for block in blocks(examples):
            for example in block:
                part.labels.add(example)
            texts = [example.text for example in block]
            content = "\0".join([f"{example.label}\0{example.text}" for example in block])
            part._digest.update(content.encode("utf-8", "surrogatepass"))
            data, offsets = pack(texts, self.lowercase)
            starts, ends, counts = find_words(data, offsets, self.lowercase)
            if self.max_words is not None:
                part.shortened += int((counts > self.max_words).sum())
                starts, ends, counts = cut(starts, ends, counts, self.max_words)
            part.words.append(self.dictionary.add(data, starts, ends))
            part._lengths.append(counts)
            part._weights.append(np.array([example.weight for example in block]))
            if len(self.dictionary) > MOST_WORDS:
                numbers = self.dictionary.prune(MOST_WORDS)
                for other in self.parts:
                    other.words.renumber(numbers)
        return part


def blocks(examples: Iterable[Example]) -> Iterator[list[Example]]:
    remaining = iter(examples)
    while block := list(islice(remaining, BLOCK)):
        yield block
