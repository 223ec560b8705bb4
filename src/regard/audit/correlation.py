"""Kendall's τ of attention with other measures of importance (Jain & Wallace 2019, §4.1), text by text.

Attention has no sign, so that others are compared by their size. A text counts as significant where p < 0.05 by itself,
uncorrected, as in the paper: of words in random order one text in twenty would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.audit.numbers import finite, told_mean
from regard.faithfulness.agreement import kendall
from regard.faithfulness.scored import Scored

Doubles = NDArray[np.float64]
SIGNIFICANT = 0.05
BINS = 20  # of the histogram, from −1 to 1


def correlations(attention: Sequence[Scored], others: Mapping[str, Sequence[Scored]], seed: int) -> dict[str, Any]:
    own = sizes(attention)
    return {name: told_correlation(own, sizes(scored), seed) for name, scored in others.items()}


def told_correlation(one: Sequence[Doubles], other: Sequence[Doubles], seed: int) -> dict[str, Any]:
    tau = kendall(one, other)
    known = tau[~np.isnan(tau)]
    p = np.array(
        [p_value(*pair) if defined else np.nan for *pair, defined in zip(one, other, ~np.isnan(tau), strict=True)]
    )
    significant = np.where(np.isnan(p), np.nan, p < SIGNIFICANT)
    counts, _ = np.histogram(known, BINS, (-1, 1))
    return {
        "tau": told_mean(tau, seed),
        "deviation": finite(float(known.std())) if len(known) else None,
        "significant": told_mean(significant, seed),
        "histogram": counts.tolist(),
    }


def sizes(scored: Sequence[Scored]) -> list[Doubles]:
    return [np.abs(np.asarray(one.scores, dtype=np.float64)) for one in scored]


def p_value(one: Doubles, other: Doubles) -> float:
    from scipy.stats import kendalltau  # type: ignore[import-untyped]

    return float(kendalltau(one, other).pvalue)
