"""Mean ranks of systems over corpora, with intervals from a bootstrap over corpora and draws.

On each corpus the systems are ranked by their mean score over the draws: 1 is the best, systems with equal scores share the mean
of their ranks. The mean over the corpora is the rank that is reported. For its interval, corpora are drawn with replacement, and
in each of them draws with replacement; because a draw means the same training texts for every system, all systems get the same
draws. A system with a single draw (one without randomness, trained on all texts) keeps its score. The interval contains the
middle 95 % of the mean ranks. It covers the choice of corpora, of training texts and of seeds, not that of test texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAMPLES = 10_000
LEVEL = 0.95

Scores = Mapping[str, Mapping[str, Sequence[float]]]  # of each system, on each corpus, in the order of the draws


class Rank(NamedTuple):
    mean: float
    low: float
    high: float


def mean_ranks(scores: Scores, samples: int = SAMPLES, seed: int = 0) -> dict[str, Rank]:
    """All systems need the same corpora. Best first."""
    names = list(scores)
    corpora = sorted(scores[names[0]])
    if any(sorted(scores[name]) != corpora for name in names):
        raise ValueError("expected scores of every system on the same corpora")
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(corpora), size=(samples, len(corpora)))
    total, observed = np.zeros((samples, len(names))), np.zeros(len(names))
    for number, corpus in enumerate(corpora):
        table = as_table([scores[name][corpus] for name in names])  # (draws, systems)
        observed += ranks(table.mean(0)[None])[0] / len(corpora)
        total += resampled_ranks(table, (drawn == number).sum(1), rng) / len(corpora)
    low, high = np.quantile(total, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    found = {name: Rank(float(observed[k]), float(low[k]), float(high[k])) for k, name in enumerate(names)}
    return dict(sorted(found.items(), key=lambda pair: pair[1].mean))


def as_table(values: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """One row per draw that all systems have; a system with one draw has its score in every row."""
    count = min((len(one) for one in values if len(one) > 1), default=1)
    return np.array([list(one[:count]) if len(one) > 1 else [one[0]] * count for one in values]).T


def resampled_ranks(
    table: NDArray[np.float64], times: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """For every sample the sum of the ranks on a corpus that was drawn `times` times, each time with other draws."""
    result = np.zeros((len(times), table.shape[1]))
    for turn in range(int(times.max(initial=0))):
        rows = np.flatnonzero(times > turn)
        draws = rng.integers(len(table), size=(len(rows), len(table)))
        result[rows] += ranks(table[draws].mean(1))
    return result


def ranks(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(samples, systems) → ranks along each row, the highest score first; equal scores share the mean of their ranks."""
    better = (scores[:, None, :] > scores[:, :, None]).sum(2)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(2)
    shared: NDArray[np.float64] = better + (equal + 1) / 2
    return shared
