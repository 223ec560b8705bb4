"""The vectors of words by id, as the linear member of a committee reads them, with words that training never saw."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus_ids import CorpusIndexer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import SPECIALS
from regard.data.words import forms
from regard.kernels.mean_vectors import mean_vectors
from regard.recorder import Recorder
from regard.training.unit_indexing import TextSource, UnitIndexer
from regard.training.vector_files import VectorFiles

STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # C of the penalty, in features of unit variance
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # that the linear model may have in the mean of the logits
MOST_ADDED = 50_000  # words of the vector files that training never saw: the first ones, usually the most frequent


class WordVectors(NamedTuple):
    """The vectors of all words by id, centred and scaled as the linear model reads them."""

    indexer: UnitIndexer  # knows the words that only the vector files have, too
    table: NDArray[np.float32]  # (ids of words, D); 0 where a word has no vector
    has_vector: NDArray[np.bool_]  # (ids of words,)
    trained: int  # ids of words that occur in the training texts come before this one
    shares: tuple[float, ...] = SHARES
    strengths: tuple[float, ...] = STRENGTHS
    usual_strength: float = 0.01
    judges: int = sys.maxsize  # all companions take part: they cost little

    def features(self, texts: UnitTexts, extended: bool = False) -> NDArray[np.float64]:
        """(texts, D); `extended`: the texts were read by `indexer`, and not by the one of the training texts."""
        words = len(self.table) if extended else self.trained
        return mean_vectors(texts.ids, texts.counts, texts.offsets, self.table[:words], self.has_vector[:words])


def read_word_vectors(
    files: VectorFiles, indexer: UnitIndexer, corpus: CorpusIndexer, source: TextSource, recorder: Recorder
) -> WordVectors:
    """The vectors of the known words and of others in the files; centred and scaled by the training texts."""
    known = indexer.tokenizer.vocabulary
    extended = indexer.with_words(unseen_words(files.words, known.words, corpus.lowercase), corpus)
    words = extended.tokenizer.vocabulary.words
    table = files.read(words)
    files.note_found(table[SPECIALS : len(known)], recorder)
    if more := len(words) - len(known.words):
        subject = (
            "1 more word is known from its vector" if more == 1 else f"{more:,} more words are known from their vectors"
        )
        recorder.note(f"{subject} alone")
    return scaled(WordVectors(extended, table, np.empty(0, dtype=bool), len(known)), source.some())


def scaled(vectors: WordVectors, texts: UnitTexts) -> WordVectors:
    """From vectors as read, NaN where there is none: the mean over the words of the texts becomes 0, the variance over the
    texts of their mean vectors 1, and a vector that is missing 0."""
    table, trained = vectors.table, vectors.trained
    is_missing = np.isnan(table)
    has_vector: NDArray[np.bool_] = ~np.logical_and.reduce(is_missing, 1)
    is_word = texts.ids < trained
    counts = np.bincount(texts.ids[is_word], texts.counts[is_word], trained)[:, None]  # (ids, 1)
    table[is_missing] = 0
    totals = (counts * ~is_missing[:trained]).sum(0)
    table -= ((counts * table[:trained]).sum(0) / np.maximum(totals, 1)).astype(np.float32)
    table[is_missing] = 0
    vectors = vectors._replace(table=table, has_vector=has_vector)
    spread = vectors.features(texts).std(0)
    table /= np.where(spread > 0, spread, 1).astype(np.float32)
    return vectors


def unseen_words(names: Sequence[str], known: Sequence[str], lowercase: bool) -> list[str]:
    """Words of the files that training never saw and that a text can contain, as it is split and converted."""
    seen, found = {*known}, []
    for name in names:
        if name not in seen and forms(name, lowercase) == [name]:
            found.append(name)
            if len(found) == MOST_ADDED:
                break
    return found
