"""A text as the model reads it without some of its words.

The remaining words and their sentences stay the same; sentences and parts that lose all their words disappear. If the model
reads pairs of neighbours, words that become neighbours form a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed
from regard.data.wordpieces import Row, WordPieces
from regard.explain.reading import Reading, each
from regard.models.trained import Trained

CHUNK = 256  # versions of a text built at a time

Kept = NDArray[np.bool_]


def left(trained: Trained, reading: Reading, kept: Kept) -> list[Indexed]:
    """(versions, words) -> one text per version, with only the words that its row keeps."""
    tokenizer = trained.tokenizer
    if isinstance(tokenizer, WordPieces):
        return in_pieces(tokenizer, reading, kept)
    if tokenizer.has_units:
        whole = (0, reading.words)
        return each(tokenizer.encode_all([written(reading, row, whole) for row in kept]))
    return [only(reading.indexed, row) for row in kept]


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


def only(indexed: Indexed, kept: Kept) -> Indexed:
    """The same for models that read words only."""
    return Indexed(indexed.ids[kept], remaining(indexed.shape, kept))


def remaining(shape: Sequence[NDArray[np.int64]], kept: Kept) -> tuple[NDArray[np.int64], ...]:
    """How many words each sentence keeps, and how many sentences each part; those that keep none are dropped."""
    counts_left = []
    for counts in shape:
        owner = np.repeat(np.arange(len(counts)), counts)
        left = np.bincount(owner[kept], minlength=len(counts)).astype(np.int64)
        counts_left.append(left[left > 0])
        kept = left > 0
    return tuple(counts_left)


def all_but(groups: Sequence[NDArray[np.int64]], words: int) -> Kept:
    """One row per group of word indices, which keeps all other words."""
    kept = np.ones((len(groups), words), dtype=bool)
    for row, indices in enumerate(groups):
        kept[row, indices] = False
    return kept
