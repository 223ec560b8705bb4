"""A linear model over the letters of words as one more member of a committee, for corpora in which most words are rare.

A word is the sequences of three to five letters in it that other words share, with its edges marked, and the word as a whole:
a vector of length 1, in which rare sequences weigh more. So "disappointing" says something about "disappointment". A beginning
is read the same way; pairs are not read. A text is the mean of its words, rare ones weighing more:

    x = Σ_w α_w v_w,    α_w ∝ n_w idf(w)²

So the linear model is a flat attention model with fixed scores log idf(w)², and the committee stays a committee: everything that
is promised about explanations and exports holds for it unchanged, and so does continuing it with new texts. λ has the same effect
as on the other members: the power 2 is that of the usual λ, and if λ grows, all words weigh the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import SPECIALS
from regard.kernels.sparse_matrix import product, transposed_product
from regard.models.flat import EMBEDDING, HEAD, HEAD_BIAS, QUERY, State
from regard.training.defaults import SCALE
from regard.training.linear_solver import Linear
from regard.training.silence import SILENCE

SHORTEST, LONGEST = 3, 5  # letters of a sequence, with the marks of a word's edges
EDGE = " "  # no word contains it
STRENGTH = 3.0  # C of the penalty, for texts of length 1 on average
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)  # that the linear model may have in the mean of the logits
JUDGES = 500  # texts held out by companions: more say little more about a share and three temperatures
DENSE = 8  # a dense product is as fast as a sparse one with an eighth of the entries
FEW = 200  # texts per output for which the steps that follow repay writing it down
BLOCK = 8  # texts whose products with all others are found at once: more would not fit into the cache
POWER = 2  # of the inverse document frequency that a word weighs, with the usual λ

Doubles = NDArray[np.float64]


class SparseMatrix(NamedTuple):
    ids: NDArray[np.int32]  # the columns of the entries, row by row
    values: Doubles
    offsets: NDArray[np.int64]  # (rows + 1,)
    columns: int

    @property
    def rows(self) -> int:
        return len(self.offsets) - 1

    def times(self, table: Doubles) -> Doubles:
        """(columns, C) -> (rows, C)"""
        result: Doubles = product(self.ids, self.values, self.offsets, np.ascontiguousarray(table))
        return result

    def transposed_times(self, table: Doubles) -> Doubles:
        """(rows, C) -> (columns, C)"""
        table = np.ascontiguousarray(table)
        result: Doubles = transposed_product(self.ids, self.values, self.offsets, table, self.columns)
        return result


class SpelledTexts:
    """The features of texts, (texts, sequences): a product of two sparse matrices that is never multiplied out."""

    __array_ufunc__ = None  # so that NumPy leaves `errors @ features` to this class

    def __init__(self, weights: SparseMatrix, vectors: SparseMatrix) -> None:
        self.weights, self.vectors = weights, vectors  # (texts, units) and (units, sequences)
        self.shape = (weights.rows, vectors.columns)

    def __matmul__(self, table: Doubles) -> Doubles:
        return self.weights.times(self.vectors.times(table))

    def __rmatmul__(self, table: Doubles) -> Doubles:
        return self.vectors.transposed_times(self.weights.transposed_times(table.T)).T

    def gram(self, outputs: int) -> Callable[[Doubles], Doubles]:
        """The product with X Xᵀ, which is written down if that is faster: for few texts and many outputs."""
        texts = self.shape[0]
        if texts > FEW * outputs or texts**2 > DENSE * (len(self.weights.ids) + len(self.vectors.ids)):
            return lambda table: self @ (table.T @ self).T
        products = np.empty((texts, texts))
        for start in range(0, texts, BLOCK):
            some = np.zeros((texts, min(BLOCK, texts - start)))
            some[np.arange(start, start + some.shape[1]), np.arange(some.shape[1])] = 1
            products[:, start : start + some.shape[1]] = self @ (some.T @ self).T
        return lambda table: products @ table


class Spelling(NamedTuple):
    """How a committee's units are spelled, and how much each weighs."""

    vectors: SparseMatrix  # (units, sequences), each row of length 1, or empty
    scores: Doubles  # (units,) attention scores, at most 0; −∞ for units that are not read
    length: float  # by which the features of texts are divided
    shares: tuple[float, ...] = SHARES
    strengths: tuple[float, ...] = (STRENGTH,)
    usual_strength: float = STRENGTH
    judges: int = JUDGES

    def features(self, texts: UnitTexts, extended: bool = False) -> SpelledTexts:
        return SpelledTexts(text_weights(texts, self.scores, self.length), self.vectors)

    def member(self, linear: Linear, width: int, scale: float) -> State:
        """The linear model as an attention model with vectors of this width: polarity, then score, then zeros."""
        outputs = len(linear.bias)
        polarity = self.vectors.times(linear.weights.T) / self.length
        is_read = np.isfinite(self.scores)
        lowest = (self.scores[is_read].min(initial=0.0) - SILENCE / SCALE) * scale
        embedding = np.zeros((len(self.scores), width), dtype=np.float32)
        embedding[:, :outputs] = polarity
        embedding[:, outputs] = np.where(is_read, self.scores * scale, lowest)
        embedding[0] = 0
        query = np.zeros(width, dtype=np.float32)
        query[outputs] = 1
        head = np.eye(outputs, width, dtype=np.float32)
        return {EMBEDDING: embedding, QUERY: query, HEAD: head, HEAD_BIAS: linear.bias.astype(np.float32)}


def find_spelling(tokenizer: Tokenizer, texts: UnitTexts, scale: float = SCALE) -> Spelling:
    """`texts`: from which frequencies are counted; `scale`: λ."""
    frequencies = np.bincount(texts.ids, minlength=len(tokenizer)).astype(np.float64)
    ids, lengths, columns = letter_sequences(tokenizer)
    units = np.repeat(np.arange(len(tokenizer)), lengths)
    totals = np.bincount(ids, frequencies[units], columns)
    values = np.log1p(totals.sum() / (1 + totals))[ids]
    norms = np.sqrt(np.bincount(units, values**2, len(tokenizer)))
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])
    scores = POWER * SCALE / scale * np.log(np.log((1 + len(texts.labels)) / (1 + frequencies)) + 1)
    scores = np.where(lengths > 0, scores - scores[lengths > 0].max(initial=-np.inf), -np.inf)
    weights = text_weights(texts, scores, 1.0)
    length = float(np.sqrt((weights.values**2).sum() / max(1, weights.rows)))
    return Spelling(SparseMatrix(ids, values / norms[units], offsets, columns), scores, length or 1.0)


def text_weights(texts: UnitTexts, scores: Doubles, length: float) -> SparseMatrix:
    """(texts, units) the attention of each text, divided by a length."""
    count, rows = len(texts.offsets) - 1, np.repeat(np.arange(len(texts.offsets) - 1), np.diff(texts.offsets))
    attended = scores[texts.ids]
    highest = np.full(count, -np.inf)
    np.maximum.at(highest, rows, attended)
    highest[np.isinf(highest)] = 0  # texts without a unit that is read
    values = texts.counts * np.exp(attended - highest[rows])
    totals = np.bincount(rows, values, count)
    return SparseMatrix(
        texts.ids, values / (np.where(totals > 0, totals, 1) * length)[rows], texts.offsets, len(scores)
    )


def letter_sequences(tokenizer: Tokenizer) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """The sequences of all units, one unit after the other, how many each has, and how many different ones there are.

    A sequence that only one word has says nothing that the whole word does not.
    """
    words = [f"{EDGE}{word}{EDGE}" for word in tokenizer.vocabulary.words]
    forms = words + [EDGE + beginning for beginning in tokenizer.beginnings]
    cut = [sequences(form) for form in forms]
    shared = Counter(sequence for some in cut for sequence in {*some})
    numbers: dict[str, int] = {}
    ids: list[int] = []
    lengths = [0] * SPECIALS
    for form, some in zip(forms, cut, strict=True):
        kept = [*dict.fromkeys(one for one in some if shared[one] > 1 and one != form), form]
        ids += [numbers.setdefault(one, len(numbers)) for one in kept]
        lengths.append(len(kept))
    lengths += [0] * len(tokenizer.pairs)
    return np.array(ids, dtype=np.int32), np.array(lengths, dtype=np.int64), len(numbers)


def sequences(form: str) -> list[str]:
    return [
        form[start : start + size] for size in range(SHORTEST, LONGEST + 1) for start in range(len(form) - size + 1)
    ]
