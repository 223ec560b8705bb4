"""Explanations against words that are known, or were marked, to decide the label.

Against human rationales (ERASER, DeYoung et al. 2020): token F of as many words as rationales have on average
(**choice**: on average of a text's words, as a share), and the area under the precision–recall curve as average
precision, Σ (R_n − R_{n−1}) P_n over the different scores. Words of one score are taken together, so that scores that are
all alike get the base rate. ERASER's code gives average precision too; what it calls AUPRC joins the points of the curve
by straight lines.
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
    """By text; NaN where no word is marked."""

    share: float  # of the words that token F takes
    tokens: Rates  # precision, recall and F of them
    random_tokens: Rates  # what words by chance get on average, exactly
    auprc: Doubles  # (texts,)
    random_auprc: Doubles  # (texts,) the mean over all orders; above the base rate, the more so the shorter the text
    base_rate: Doubles  # (texts,) the share of words that are marked
    left_out: int  # texts without a marked word


def against_rationales(
    scored: Sequence[Scored], evidence: Sequence[Sequence[Span]], share: float | None = None
) -> Plausibility:
    """Token F takes this share of each text's words; without one, the mean share that is marked."""
    gold = marked(scored, evidence)
    base = np.array([own.mean() if own.any() else np.nan for own in gold])
    if share is None:
        share = float(np.nanmean(base)) if not np.isnan(base).all() else 0.0
    chosen = detection(scored, evidence, [Cut(share, True)])
    pairs = list(zip(scored, gold, strict=True))
    auprc = np.array([average_precision(np.asarray(one.scores, dtype=np.float64), own) for one, own in pairs])
    chance = np.array([expected_precision(len(own), int(own.sum())) for own in gold])
    return Plausibility(share, chosen.found, chosen.random, auprc, chance, base, chosen.left_out)


def average_precision(scores: Doubles, gold: NDArray[np.bool_]) -> float:
    """NaN where nothing is marked."""
    if not gold.any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # of each run of one score
    hits = np.cumsum(gold[order])[last]
    return float((np.diff(hits, prepend=0) * hits / (last + 1)).sum() / gold.sum())


def expected_precision(words: int, marks: int) -> float:
    """The mean average precision over all orders of the words; NaN where nothing is marked.

    A marked word in place k has 1 + (k − 1)(marks − 1)/(words − 1) marked words up to it on average, and is as likely in
    every place.
    """
    if not marks:
        return float("nan")
    harmonic = float((1 / np.arange(1, words + 1)).sum())
    return (harmonic + (marks - 1) / max(words - 1, 1) * (words - harmonic)) / words


def plausibility(explanations: Sequence[Explanation], evidence: Sequence[Sequence[Span]]) -> dict[str, float]:
    """Means over the texts that have evidence: the weight on it, and how often the heaviest words are among it.

    `random` is what weights that know nothing get: the share of words that are evidence, the same for both measures.
    """
    weight, first, chance = [], [], []
    for explanation, spans in zip(explanations, evidence, strict=True):
        own = marked_words([(token.start, token.end) for token in explanation.tokens], spans)
        if not own.any():
            continue
        weights = np.array([token.weight for token in explanation.tokens])
        weight.append(weights[own].sum())
        first.append(own[np.argsort(-weights, kind="stable")[: own.sum()]].mean())
        chance.append(own.mean())
    if not weight:
        return {"texts": 0}
    means = [float(np.mean(values)) for values in (weight, first, chance)]
    return {
        "texts": len(weight),
        **dict(zip(("weight_on_evidence", "precision_at_evidence", "random"), means, strict=True)),
    }
