"""Members of a committee that read the letters of words, so that words which were seen rarely learn from words spelled like them.

To such a member a word is the sequences of three to five letters in it that other words share, with its edges marked, and the
word as a whole; a beginning is read the same way, and pairs are not read. All sequences of a text compete for one attention, so
those of a word together are a unit with a score and a vector of its own, which do not depend on the text:

    a(w) = log Σ_g exp a_g,    e(w) = Σ_g softmax(a)_g e_g

Training is over sequences, by the same steps as for any member. What is kept is a vector per unit that has this score and the
polarity of e(w), in the shape of all other members, so everything that is promised about committees holds unchanged, and a
prediction takes no longer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Model
from regard.data.tokenizer import Tokenizer
from regard.data.unit_texts import UnitTexts
from regard.data.vocabulary import SPECIALS, UNKNOWN
from regard.errors import InputError
from regard.models.flat import EMBEDDING, QUERY, State
from regard.training.silence import free_direction, silent_vector
from regard.training.unit_indexing import IN_MEMORY, TextSource

SHORTEST, LONGEST = 3, 5  # letters of a sequence, with the marks of a word's edges
EDGE = " "  # no word contains it
MOST_COUNTS = np.iinfo(np.uint16).max

Ids = NDArray[np.int32]
Int64s = NDArray[np.int64]


class Letters(NamedTuple):
    """The letter sequences of every unit, one unit after the other."""

    ids: Ids  # of sequences; like words, they are numbered from 2
    offsets: Int64s  # (units + 1,)
    size: int  # the number of ids, with the special ones

    def texts(self, texts: UnitTexts) -> UnitTexts:
        """The same texts as bags of letter sequences."""
        lengths = self.offsets[texts.ids + 1] - self.offsets[texts.ids]
        starts = np.repeat(self.offsets[texts.ids] - np.cumsum(lengths) + lengths, lengths)
        sequences = self.ids[starts + np.arange(len(starts))].astype(np.int64)
        rows = np.repeat(np.arange(len(texts.labels)), np.diff(texts.offsets))
        keys, positions = np.unique(np.repeat(rows, lengths) * self.size + sequences, return_inverse=True)
        counts = np.bincount(positions, np.repeat(texts.counts, lengths), len(keys))
        offsets = np.searchsorted(keys, np.arange(len(texts.labels) + 1) * self.size)
        return texts._replace(
            ids=(keys % self.size).astype(np.int32),
            counts=np.minimum(counts, MOST_COUNTS).astype(np.uint16),
            offsets=offsets.astype(np.int64),
        )


def letters_of_members(model: Model, tokenizer: Tokenizer, outputs: int, words: int) -> list[Letters | None]:
    """What each attention model of a committee reads: the last ones letters, the others (None) whole words and pairs."""
    count = model.letters or 0
    if count and words > IN_MEMORY:
        raise InputError(f"letters = {count}: expected at most {IN_MEMORY:,} words of training texts, got {words:,}")
    if count and model.embedding is not None and model.embedding <= outputs:
        raise InputError(
            f"letters = {count}: expected embedding = {outputs + 1} or more for {outputs} outputs, got {model.embedding}"
        )
    letters = find_letters(tokenizer) if count else None
    return [None] * (model.attention_models - count) + [letters] * count


def find_letters(tokenizer: Tokenizer) -> Letters:
    """The letter sequences of all units of a tokenizer. Those of one word alone say nothing that the whole word does not."""
    words = [f"{EDGE}{word}{EDGE}" for word in tokenizer.vocabulary.words]
    forms = words + [EDGE + beginning for beginning in tokenizer.beginnings]
    cut = [sequences(form) for form in forms]
    shared = Counter(sequence for some in cut for sequence in {*some})
    numbers: dict[str, int] = {}
    ids, lengths = [UNKNOWN], [0, 1]  # padding has none; unknown words stay what they are
    for form, some in zip(forms, cut, strict=True):
        kept = [one for one in some if shared[one] > 1 and one != form]
        ids += [numbers.setdefault(one, len(numbers) + SPECIALS) for one in (*kept, form)]
        lengths.append(len(kept) + 1)
    lengths += [0] * len(tokenizer.pairs)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)])
    return Letters(np.array(ids, dtype=np.int32), offsets, len(numbers) + SPECIALS)


def sequences(form: str) -> list[str]:
    return [
        form[start : start + size] for size in range(SHORTEST, LONGEST + 1) for start in range(len(form) - size + 1)
    ]


def lettered(sources: Sequence[TextSource], letters: Sequence[Letters | None]) -> list[TextSource]:
    """What each member is trained on: its texts, as sequences of letters where it reads those."""
    whole: UnitTexts | None = None
    results = []
    for source, of_member in zip(sources, letters, strict=True):
        if of_member is None:
            results.append(source)
            continue
        assert source.whole is not None  # `letters_of_members` refuses larger corpora
        whole = of_member.texts(source.whole) if whole is None else whole
        other = copy(source)
        other.whole = whole  # members share the texts, and differ in the rows that they learn from
        results.append(other)
    return results


def by_unit(state: State, scale: float, letters: Letters, learned: NDArray[np.bool_] | None = None) -> State:
    """Weights over units from weights over letter sequences. Units without a sequence that is `learned` are ignored."""
    units = len(letters.offsets) - 1
    of_units = np.repeat(np.arange(units), np.diff(letters.offsets))
    ids = letters.ids
    if learned is not None:
        of_units, ids = of_units[learned[ids]], ids[learned[ids]]
    vectors, query = state[EMBEDDING].astype(np.float64), state[QUERY].astype(np.float64)
    scores = (vectors @ query / scale)[ids]
    highest = np.full(units, -np.inf)
    np.maximum.at(highest, of_units, scores)
    powers = np.exp(scores - highest[of_units])
    totals = np.bincount(of_units, powers, units)
    known = totals > 0
    columns = [np.bincount(of_units, powers * column[ids], units) for column in vectors.T]
    means: NDArray[np.float64] = np.stack(columns, 1).astype(np.float64)
    means[known] /= totals[known, None]
    # the part of the query that the head does not read gives the vector its score and leaves its polarity alone
    free, wanted = free_direction(state), scale * (highest[known] + np.log(totals[known]))
    means[known] += ((wanted - means[known] @ query) / (free @ free))[:, None] * free
    result = {**state, EMBEDDING: means.astype(np.float32)}
    result[EMBEDDING][~known] = silent_vector(result, known)
    result[EMBEDDING][0] = 0
    return result


def squares_by_unit(squares: State, letters: Letters) -> State:
    """Adagrad's sums of the units: the means over their letter sequences."""
    if not squares:
        return squares
    lengths = np.diff(letters.offsets)
    totals = np.zeros((len(lengths), squares[EMBEDDING].shape[1]))
    np.add.at(totals, np.repeat(np.arange(len(lengths)), lengths), squares[EMBEDDING][letters.ids])
    return {**squares, EMBEDDING: (totals / np.maximum(lengths, 1)[:, None]).astype(np.float32)}
