"""A text as the model reads it without some of its words: as if they had never been written.

What a word is does not change by that, nor in which sentence it stands; a sentence or part without a word is none. Where
the model reads pairs of neighbours, words that become neighbours make a pair.
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

CHUNK = 256  # versions of a text that are made at a time

Kept = NDArray[np.bool_]


def left(trained: Trained, reading: Reading, kept: Kept) -> list[Indexed]:
    """(versions, words) -> as many texts, each with those words only that its row keeps."""
    tokenizer = trained.tokenizer
    if isinstance(tokenizer, WordPieces):
        return in_pieces(tokenizer, reading, kept)
    if tokenizer.has_units:
        whole = (0, reading.words)
        return each(tokenizer.encode_all([written(reading, row, whole) for row in kept]))
    return [only(reading.indexed, row) for row in kept]


def in_pieces(tokenizer: WordPieces, reading: Reading, kept: Kept) -> list[Indexed]:
    """Pieces depend on what stands beside a word, so what is left of each sentence is cut anew."""
    shape = reading.outline.shape
    ends = np.cumsum(shape[0] if shape else [reading.words]).tolist()
    rows = [*pairwise([0, *ends])]
    shown = [[written(reading, version, row) for row in rows if version[slice(*row)].any()] for version in kept]
    once = [*dict.fromkeys(chain.from_iterable(shown))]  # most sentences stay as they are
    cut = dict(zip(once, tokenizer.cut([Row(own, [(0, len(own))], 0, 1) for own in once]), strict=True))
    found = []
    for version, sentences in zip(kept, shown, strict=True):
        pieces = [cut[own][0] for own in sentences]
        lengths = np.array([len(ids) for ids in pieces], dtype=np.int64)
        above = remaining(shape, version)[1:]
        ids = np.concatenate([np.empty(0, dtype=np.int32), *pieces])
        found.append(Indexed(ids, (lengths, *above) if shape else ()))
    return found


def written(reading: Reading, kept: Kept, row: tuple[int, int]) -> str:
    """The words [first, last) and what stands between them, with a blank in the place of each word that goes."""
    first, last = row
    spans = reading.outline.words[first:last]
    gone = [spans[place] for place in np.flatnonzero(~kept[first:last])]
    edges = [(0, spans[0][0]), *gone, (spans[-1][1], 0)]
    return " ".join(reading.text[a:b] for (_, a), (b, _) in pairwise(edges)).strip()


def only(indexed: Indexed, kept: Kept) -> Indexed:
    """Where words are all that is read, without those that go."""
    return Indexed(indexed.ids[kept], remaining(indexed.shape, kept))


def remaining(shape: Sequence[NDArray[np.int64]], kept: Kept) -> tuple[NDArray[np.int64], ...]:
    """How many words each sentence keeps that keeps any, and how many such sentences each part."""
    found = []
    for counts in shape:
        owner = np.repeat(np.arange(len(counts)), counts)
        left = np.bincount(owner[kept], minlength=len(counts)).astype(np.int64)
        found.append(left[left > 0])
        kept = left > 0
    return tuple(found)


def all_but(gone: Sequence[NDArray[np.int64]], words: int) -> Kept:
    """A row for each of these groups of words, which keeps all others."""
    kept = np.ones((len(gone), words), dtype=bool)
    for row, places in enumerate(gone):
        kept[row, places] = False
    return kept
