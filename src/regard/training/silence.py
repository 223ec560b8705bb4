"""Units that a member of a committee ignores, because their vectors are still the random ones that training started from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.data.vocabulary import SPECIALS
from regard.models.flat import EMBEDDING, HEAD, QUERY, State
from regard.training.unit_indexing import TextSource

SILENCE = 60.0  # how far the score of a unit that a member ignores lies below all others, times λ

Rows = NDArray[np.bool_]


def silence(state: State, learned: Rows) -> None:
    """Make a member ignore the units that it has not learned."""
    state[EMBEDDING][~learned] = silent_vector(state, learned)


def silent_vector(state: State, learned: Rows) -> NDArray[np.float32]:
    """A vector whose score is far below all others, and whose polarity is 0; the zero vector if there is none such."""
    query, head = state[QUERY].astype(np.float64), state[HEAD].astype(np.float64)
    free = query - np.linalg.pinv(head) @ (head @ query)  # the part of the query that the head does not read
    length = float(free @ free)
    if length < 1e-6 * float(query @ query):
        return np.zeros_like(state[QUERY])
    lowest = float((state[EMBEDDING] @ state[QUERY])[learned].min())
    return np.asarray((min(lowest, 0.0) - SILENCE) / length * free, dtype=np.float32)


def seen_units(source: TextSource, learned: Rows, squares: State) -> Rows | None:
    """The units that a member knows: those of its texts, and those that it has `learned` before. None: all of them."""
    whole, rows = source.whole, source.rows
    is_first = not learned.any()
    seen = learned.copy()
    seen[:SPECIALS] = True
    if whole is None:
        if is_first or not squares:
            return None
        return np.asarray(seen | squares[EMBEDDING].any(1))  # the units that were ever updated
    if is_first and len(rows) == len(whole.labels):
        return None
    is_kept = np.zeros(len(whole.labels), dtype=bool)
    is_kept[rows] = True
    seen[whole.ids[np.repeat(is_kept, np.diff(whole.offsets))]] = True
    return seen


def silent_units(state: State) -> Rows:
    """The units that `silence` has made a member ignore."""
    vectors = state[EMBEDDING]
    scores = vectors[SPECIALS:] @ state[QUERY] if vectors.shape[1] == len(state[QUERY]) else np.zeros(0)
    silent = np.zeros(len(vectors), dtype=bool)
    if len(scores):
        lowest = scores.min()
        low = scores < lowest + 0.01 * SILENCE
        others = scores[~low]
        if lowest < -0.99 * SILENCE and (not len(others) or others.min() > lowest + 0.9 * SILENCE):
            silent[SPECIALS:] = low
        silent[SPECIALS:] |= ~vectors[SPECIALS:].any(1)
    return silent
