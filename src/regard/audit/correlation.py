"""Kendall's τ of attention with other measures of importance (Jain & Wallace 2019, §4.1), per text.

Attention has no sign, so the others are compared by their absolute values. A text counts as significant if p < 0.05,
uncorrected, as in the paper: with words in random order one text in twenty would be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.audit.intervals import finite, mean_interval
from regard.facts.audit import Correlation
from regard.faithfulness.agreement import kendall
from regard.faithfulness.scored import Scored

Doubles = NDArray[np.float64]
SIGNIFICANT = 0.05
BINS = 20  # of the histogram, from −1 to 1


def correlations(
    attention: Sequence[Scored], others: Mapping[str, Sequence[Scored]], seed: int
) -> dict[str, Correlation]:
    attention_sizes = sizes(attention)
    return {name: correlation(attention_sizes, sizes(scored), seed) for name, scored in others.items()}


def correlation(one: Sequence[Doubles], other: Sequence[Doubles], seed: int) -> Correlation:
    tau = kendall(one, other)
    known = tau[~np.isnan(tau)]
    p = np.array(
        [p_value(*pair) if defined else np.nan for *pair, defined in zip(one, other, ~np.isnan(tau), strict=True)]
    )
    significant = np.where(np.isnan(p), np.nan, p < SIGNIFICANT)
    counts, _ = np.histogram(known, BINS, (-1, 1))
    return Correlation(
        tau=mean_interval(tau, seed),
        deviation=finite(float(known.std())) if len(known) else None,
        significant=mean_interval(significant, seed),
        histogram=tuple(counts.tolist()),
    )


def sizes(scored: Sequence[Scored]) -> list[Doubles]:
    return [np.abs(np.asarray(one.scores, dtype=np.float64)) for one in scored]


def p_value(one: Doubles, other: Doubles) -> float:
    from scipy.stats import kendalltau  # type: ignore[import-untyped]

    return float(kendalltau(one, other).pvalue)
