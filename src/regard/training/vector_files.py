"""The word vectors that `--vectors` names: one file or folder, or several separated by commas, side by side."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from regard.corpora.lookup import resolve
from regard.data.vectors import read_vectors, vector_words
from regard.data.vocabulary import SPECIALS
from regard.errors import InputError
from regard.recorder import Recorder


class VectorFiles:
    def __init__(self, option: str) -> None:
        self.names = [option] if os.path.exists(option) else [name.strip() for name in option.split(",")]
        if not all(self.names):
            raise InputError(f"vectors: expected one file or folder, or several separated by commas, got {option!r}")
        self.paths = [resolve(name, "vectors") for name in self.names]

    @cached_property
    def words(self) -> list[str]:
        """Every word that has a vector of its own in some file, those of the first file first."""
        return list(dict.fromkeys(word for path in self.paths for word in vector_words(path)))

    def read(self, words: Sequence[str]) -> NDArray[np.float32]:
        """One row per word id, the vectors of all files side by side; NaN where a file has none for a word, and for padding and
        the unknown word."""
        parts = []
        for path in self.paths:
            table, found = read_vectors(path, words)
            table[~found] = np.nan
            parts.append(table)
        return np.pad(np.concatenate(parts, axis=1), ((SPECIALS, 0), (0, 0)), constant_values=np.nan)

    def note_found(self, table: NDArray[np.float32], recorder: Recorder) -> None:
        """`table`: the rows of the words that occur in the training texts."""
        found = int((~np.isnan(table)).any(1).sum())
        recorder.note(
            f"{found} of {len(table)} words have a vector in {', '.join(self.names)} ({table.shape[1]} dimensions)"
        )

    def initial(self, words: Sequence[str], recorder: Recorder) -> NDArray[np.float32]:
        """The same, with a note about how many of the words have a vector."""
        table = self.read(words)
        self.note_found(table[SPECIALS:], recorder)
        return table
