"""Agreement of two attributions of the same words: in ranking, in shares, and in their top words.

    Kendall's τ-b           over all pairs of a text's words
    Jensen–Shannon, TVD     between shares |score| / Σ |score| (**choice**: signs are dropped; if all scores are 0, all
                            shares are equal)
    overlap at K            the fraction of the top K words that both share; K / words for random words

One value per text. NaN if it is undefined: no words; for τ also a single word, or scores that are all equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.faithfulness.curves import Curve
from regard.faithfulness.distributions import jensen_shannon, total_variation
from regard.faithfulness.ranking import Cuts, counts, cut_offs, ranking
from regard.faithfulness.scored import Doubles, Ints, Scored, check_alike

PAIRS = 2**22  # pairs of words compared at a time
LONG = 256  # for texts with more words, sorting is faster than comparing every pair
TEXTS = 1024  # texts per array of shares


class Agreement(NamedTuple):
    tau: Doubles  # (texts,)
    divergence: Doubles  # (texts,) Jensen–Shannon, from 0 to log 2
    distance: Doubles  # (texts,) total variation, from 0 to 1
    overlap: Curve
    random_overlap: Curve  # expectation for random words, exact


def agreement(one: Sequence[Scored], other: Sequence[Scored], cuts: Cuts = (1, 5)) -> Agreement:
    check_alike({"one": one, "other": other})
    a, b = ([np.asarray(text.scores, dtype=np.float64) for text in side] for side in (one, other))
    return Agreement(kendall(a, b), *share_distances(a, b), *overlaps(a, b, cuts))


def kendall(one: Sequence[Doubles], other: Sequence[Doubles]) -> Doubles:
    """(texts,) τ-b of the scores of each text."""
    lengths = np.array([len(scores) for scores in one], dtype=np.int64)
    tau = np.full(len(lengths), np.nan)
    for length in np.unique(lengths[lengths > 1]).tolist():
        rows, step = np.flatnonzero(lengths == length).tolist(), max(1, PAIRS // length**2)
        if length > LONG:
            tau[rows] = [kendall_sorted(one[row], other[row]) for row in rows]
            continue
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            tau[part] = kendall_compared(*(np.stack([side[row] for row in part]) for side in (one, other)))
    return tau


def kendall_compared(one: Doubles, other: Doubles) -> Doubles:
    """(R, n) each -> (R,), by comparing every pair of words."""
    above, below = np.triu_indices(one.shape[1], 1)
    left, right = (np.sign(side[:, above] - side[:, below]) for side in (one, other))  # (R, pairs)
    untied = np.sqrt(np.abs(left).sum(1) * np.abs(right).sum(1))
    tau = np.divide((left * right).sum(1), untied, out=np.full(len(one), np.nan), where=untied > 0)
    return np.asarray(tau)


def kendall_sorted(one: Doubles, other: Doubles) -> float:
    if one.min() == one.max() or other.min() == other.max():
        return float("nan")
    from scipy.stats import kendalltau  # type: ignore[import-untyped]

    return float(kendalltau(one, other).statistic)


def share_distances(one: Sequence[Doubles], other: Sequence[Doubles]) -> tuple[Doubles, Doubles]:
    """(texts,) each: Jensen–Shannon divergence and total variation distance of the words' shares."""
    divergence, distance = np.full(len(one), np.nan), np.full(len(one), np.nan)
    order = np.argsort([len(scores) for scores in one], kind="stable")  # similar lengths together: less padding
    for start in range(0, len(order), TEXTS):
        rows = order[start : start + TEXTS]
        p, q = (shares([side[row] for row in rows]) for side in (one, other))  # (R, words)
        filled = p.any(axis=1)
        divergence[rows[filled]] = jensen_shannon(p[filled], q[filled])
        distance[rows[filled]] = total_variation(p[filled], q[filled])
    return divergence, distance


def shares(scores: Sequence[Doubles]) -> Doubles:
    """(texts, words) with zeros beyond the end of each text."""
    padded = np.zeros((len(scores), max(map(len, scores), default=0)))
    for row, values in enumerate(scores):
        sizes = np.abs(values)
        top = sizes.max(initial=0.0)
        # divide by the largest first: a sum of very large numbers would overflow, one of very small numbers underflow
        padded[row, : len(values)] = sizes / top if top > 0 else 1.0
    return np.asarray(padded / np.maximum(padded.sum(1, keepdims=True), 1.0))


def overlaps(one: Sequence[Doubles], other: Sequence[Doubles], cuts: Cuts = (1, 5)) -> tuple[Curve, Curve]:
    """The fraction of the top words that both share, and its expectation for random words."""
    cuts = cut_offs(cuts)
    lengths = np.array([len(scores) for scores in one], dtype=np.int64)
    taken = counts(lengths.tolist(), cuts)  # (texts, cuts)
    shared = np.array([count_shared(*row) for row in zip(one, other, taken, strict=True)]).reshape(taken.shape)
    words = np.where(lengths > 0, lengths, np.nan)[:, None]
    overlap = np.where(np.isnan(words), np.nan, shared / np.maximum(taken, 1))
    expected = taken / words
    return Curve("top words shared", "", cuts, overlap), Curve("top words shared", "", cuts, expected)


def count_shared(one: Doubles, other: Doubles, taken: Ints) -> Ints:
    """(cuts,) how many words are among the top words of both."""
    rank = np.empty(len(one), dtype=np.int64)  # the worse of each word's two ranks
    rank[ranking(one)] = np.arange(len(one))
    other_rank = np.empty_like(rank)
    other_rank[ranking(other)] = np.arange(len(one))
    np.maximum(rank, other_rank, out=rank)
    return np.asarray(np.searchsorted(np.sort(rank), taken, "left"), dtype=np.int64)
