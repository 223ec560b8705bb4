"""Explanations compared with words that are known, or were marked by people, to decide the label.

For human rationales (ERASER, DeYoung et al. 2020): token F of as many words as rationales have on average (**choice**: the
average fraction of a text's words), and the area under the precision–recall curve as average precision,
Σ (R_n − R_{n−1}) P_n over the distinct scores. Words with equal scores are taken together, so that constant scores get the
base rate. ERASER's code has average precision too; what it calls AUPRC interpolates the curve linearly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.faithfulness.detection import Rates, detection
from regard.faithfulness.marking import marked, marked_words
from regard.faithfulness.ranking import Cut
from regard.faithfulness.scored import Doubles, Scored
from regard.records import Explanation, Span


class Plausibility(NamedTuple):
    """Per text; NaN if no word is marked."""

    share: float  # fraction of the words that token F takes
    tokens: Rates  # precision, recall and F of them
    random_tokens: Rates  # expectation for random words, exact
    auprc: Doubles  # (texts,)
    random_auprc: (
        Doubles  # (texts,) the mean over all orders of the words; above the base rate, most of all in short texts
    )
    base_rate: Doubles  # (texts,) the fraction of marked words
    left_out: int  # texts without a marked word


def against_rationales(
    scored: Sequence[Scored], evidence: Sequence[Sequence[Span]], share: float | None = None
) -> Plausibility:
    """Token F takes this fraction of each text's words; by default the mean fraction that is marked."""
    gold = marked(scored, evidence)
    base = np.array([words.mean() if words.any() else np.nan for words in gold])
    if share is None:
        share = float(np.nanmean(base)) if not np.isnan(base).all() else 0.0
    chosen = detection(scored, evidence, [Cut(share, True)])
    pairs = list(zip(scored, gold, strict=True))
    auprc = np.array([average_precision(np.asarray(one.scores, dtype=np.float64), words) for one, words in pairs])
    expected = np.array([expected_precision(len(words), int(words.sum())) for words in gold])
    return Plausibility(share, chosen.found, chosen.random, auprc, expected, base, chosen.left_out)


def average_precision(scores: Doubles, gold: NDArray[np.bool_]) -> float:
    """NaN if nothing is marked."""
    if not gold.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    last = np.append(
        np.flatnonzero(np.diff(scores[order])), len(order) - 1
    )  # the last word of each run of equal scores
    hits = np.cumsum(gold[order])[last]
    return float((np.diff(hits, prepend=0) * hits / (last + 1)).sum() / gold.sum())


def expected_precision(words: int, marks: int) -> float:
    """The mean average precision over all orders of the words; NaN if nothing is marked.

    A marked word at rank k has 1 + (k − 1)(marks − 1)/(words − 1) marked words up to it on average, and all ranks are
    equally likely.
    """
    if not marks:
        return float("nan")
    harmonic = float((1 / np.arange(1, words + 1)).sum())
    return (harmonic + (marks - 1) / max(words - 1, 1) * (words - harmonic)) / words


def plausibility(explanations: Sequence[Explanation], evidence: Sequence[Sequence[Span]]) -> dict[str, float]:
    """Means over the texts that have evidence: the weight on it, and how often the heaviest words are part of it.

    `random` is the expectation for random weights: the fraction of words that are evidence, the same for both measures.
    """
    weight, precision, expected = [], [], []
    for explanation, spans in zip(explanations, evidence, strict=True):
        gold = marked_words([(token.start, token.end) for token in explanation.tokens], spans)
        if not gold.any():
            continue
        weights = np.array([token.weight for token in explanation.tokens])
        weight.append(weights[gold].sum())
        precision.append(gold[np.argsort(-weights, kind="stable")[: gold.sum()]].mean())
        expected.append(gold.mean())
    if not weight:
        return {"texts": 0}
    means = [float(np.mean(values)) for values in (weight, precision, expected)]
    return {
        "texts": len(weight),
        **dict(zip(("weight_on_evidence", "precision_at_evidence", "random"), means, strict=True)),
    }
