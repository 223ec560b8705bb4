"""Whether two attributions of the same words say the same: in order, in shares, and in the words they put first.

    Kendall's τ-b           over all pairs of a text's words; ties count for neither side
    Jensen–Shannon, TVD     between shares |score| / Σ |score| (**choice**: of gradients and the like the sign is dropped;
                            scores that are all 0 are even shares); attention is its own shares
    overlap at K            the part of the top K words that both have; by chance K / words

A value a text. NaN where there is none: no words; for τ also one word, or scores that are all alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from regard.faithfulness.curves import Curve
from regard.faithfulness.distributions import jensen_shannon, total_variation
from regard.faithfulness.ranking import Cuts, counts, cut_offs, ranking
from regard.faithfulness.scored import Doubles, Numbers, Scored, check_alike

PAIRS = 2**22  # of words, compared at a time
LONG = 256  # words, from where sorting is faster than comparing every pair
TEXTS = 1024  # whose shares are laid side by side at a time


class Agreement(NamedTuple):
    tau: Doubles  # (texts,)
    divergence: Doubles  # (texts,) Jensen–Shannon, from 0 to log 2
    distance: Doubles  # (texts,) total variation, from 0 to 1
    overlap: Curve
    random_overlap: Curve  # of two choices by chance, exactly


def agreement(one: Sequence[Scored], other: Sequence[Scored], cuts: Cuts = (1, 5)) -> Agreement:
    check_alike({"one": one, "other": other})
    mine, its = ([np.asarray(each.scores, dtype=np.float64) for each in side] for side in (one, other))
    return Agreement(kendall(mine, its), *share_distances(mine, its), *overlaps(mine, its, cuts))


def kendall(one: Sequence[Doubles], other: Sequence[Doubles]) -> Doubles:
    """(texts,) τ-b of the scores of each text."""
    lengths = np.array([len(scores) for scores in one], dtype=np.int64)
    found = np.full(len(lengths), np.nan)
    for length in np.unique(lengths[lengths > 1]).tolist():
        rows, step = np.flatnonzero(lengths == length).tolist(), max(1, PAIRS // length**2)
        if length > LONG:
            found[rows] = [kendall_sorted(one[row], other[row]) for row in rows]
            continue
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            found[part] = kendall_compared(*(np.stack([side[row] for row in part]) for side in (one, other)))
    return found


def kendall_compared(one: Doubles, other: Doubles) -> Doubles:
    """(R, n) each -> (R,), by every pair of words."""
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
    order = np.argsort([len(scores) for scores in one], kind="stable")  # so that little of a chunk is empty
    for start in range(0, len(order), TEXTS):
        rows = order[start : start + TEXTS]
        p, q = (shares([side[row] for row in rows]) for side in (one, other))  # (R, words)
        filled = p.any(axis=1)
        divergence[rows[filled]] = jensen_shannon(p[filled], q[filled])
        distance[rows[filled]] = total_variation(p[filled], q[filled])
    return divergence, distance


def shares(scores: Sequence[Doubles]) -> Doubles:
    """(texts, words) with zeros beyond the end of each."""
    laid = np.zeros((len(scores), max(map(len, scores), default=0)))
    for row, own in enumerate(scores):
        sizes = np.abs(own)
        top = sizes.max(initial=0.0)
        # by the largest first: a sum of very large numbers would not be finite, one of very small ones 0
        laid[row, : len(own)] = sizes / top if top > 0 else 1.0
    return np.asarray(laid / np.maximum(laid.sum(1, keepdims=True), 1.0))


def overlaps(one: Sequence[Doubles], other: Sequence[Doubles], cuts: Cuts = (1, 5)) -> tuple[Curve, Curve]:
    """The part of the top words that both have, and what chance gives."""
    cuts = cut_offs(cuts)
    lengths = np.array([len(scores) for scores in one], dtype=np.int64)
    taken = counts(lengths.tolist(), cuts)  # (texts, cuts)
    shared = np.array([both_first(*each) for each in zip(one, other, taken, strict=True)]).reshape(taken.shape)
    words = np.where(lengths > 0, lengths, np.nan)[:, None]
    found = np.where(np.isnan(words), np.nan, shared / np.maximum(taken, 1))
    chance = taken / words
    return Curve("top words shared", "", cuts, found), Curve("top words shared", "", cuts, chance)


def both_first(one: Doubles, other: Doubles, taken: Numbers) -> Numbers:
    """(cuts,) how many words are among the first of both."""
    later = np.empty(len(one), dtype=np.int64)  # the place of each word in the ranking that has it later
    later[ranking(one)] = np.arange(len(one))
    behind = np.empty_like(later)
    behind[ranking(other)] = np.arange(len(one))
    np.maximum(later, behind, out=later)
    return np.asarray(np.searchsorted(np.sort(later), taken, "left"), dtype=np.int64)
