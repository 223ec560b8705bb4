"""Differences between two methods over seeds and texts, from the predictions that rows keep.

Tests over seeds alone say whether methods differ on these test texts. The bootstrap here also draws texts: 2,000 times, pairs of
runs with the same seed are drawn with replacement, then texts, the same ones for all drawn runs, because every run answers
the same texts; its interval covers other texts of the same kind. McNemar's test counts pairs of answers, over all seeds, of which
one is right and the other wrong; it treats the answers of different seeds to one text as independent, so its p is too small if
seeds make the same mistakes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.mcnemar import mcnemar_p
from regard_lab.predictions import Answered, answered
from regard_lab.rows import Row

DRAWS = 2000
AT_ONCE = 100  # draws that are computed together
Doubles = NDArray[np.float64]


class Discordant(NamedTuple):
    """Pairs of answers of which one is right and the other wrong."""

    won: int  # the first is right
    lost: int  # the second is right

    @property
    def p(self) -> float:
        """McNemar's exact test, two-sided."""
        return mcnemar_p(self.won, self.lost)


class OverTexts(NamedTuple):
    """One method minus another, over the seeds for which both have predictions."""

    seeds: int
    difference: float
    low: float  # of the 95 % interval
    high: float
    discordant: Discordant | None  # None: not a classification


def compare_over_texts(one: Sequence[Row], other: Sequence[Row], measure: str) -> OverTexts | None:
    """None for other measures than accuracy and RMSE, and without predictions of both methods on the same texts."""
    if measure not in ("accuracy", "rmse"):
        return None
    first, second = paired_answers(by_seed(one), by_seed(other))
    if not first:
        return None
    losses = [np.stack([losses_of(each, measure) for each in side]) for side in (first, second)]  # (seeds, texts)
    sign = -1 if measure == "accuracy" else 1  # shares of errors, or squared errors
    difference, low, high = (sign * value for value in bootstrap(losses[0], losses[1], root=measure == "rmse"))
    low, high = min(low, high), max(low, high)
    discordant = count_discordant(losses[0], losses[1]) if measure == "accuracy" else None
    return OverTexts(len(first), difference, low, high, discordant)


def by_seed(rows: Sequence[Row]) -> dict[int, Row]:
    return {row["seed"]: row for row in rows if "predictions" in row and "error" not in row}


def paired_answers(one: Mapping[int, Row], other: Mapping[int, Row]) -> tuple[list[Answered], list[Answered]]:
    """The answers of both for each seed, as far as all are to the texts of the first such seed."""
    pairs = [(one[seed], other[seed]) for seed in sorted(one.keys() & other.keys())]
    texts = pairs[0][0]["predictions"]["texts"] if pairs else ""
    kept = [pair for pair in pairs if all(row["predictions"]["texts"] == texts for row in pair)]
    first, second = ([each for pair in kept if (each := answered(pair[side])) is not None] for side in (0, 1))
    return first, second


def losses_of(answers: Answered, measure: str) -> Doubles:
    if measure == "accuracy":
        return np.not_equal(answers.labels, answers.predicted).astype(np.float64)
    return np.square(answers.labels - answers.predicted)


def count_discordant(first: Doubles, second: Doubles) -> Discordant:
    return Discordant(int((first < second).sum()), int((first > second).sum()))


def bootstrap(
    first: Doubles, second: Doubles, root: bool, draws: int = DRAWS, seed: int = 0
) -> tuple[float, float, float]:
    """The difference of the mean losses over texts, with `root` of their roots, averaged over seeds, and its 95 % interval.

    `first` and `second` are (seeds, texts). Each draw weights seeds and texts by how often they were drawn.
    """
    rng = np.random.default_rng(seed)
    seeds, texts = first.shape

    def differences(text_weights: Doubles) -> Doubles:  # (draws, texts) -> (draws, seeds)
        means = [text_weights @ losses.T / texts for losses in (first, second)]
        difference: Doubles = np.sqrt(means[0]) - np.sqrt(means[1]) if root else means[0] - means[1]
        return difference

    drawn: list[float] = []
    while len(drawn) < draws:
        count = min(AT_ONCE, draws - len(drawn))
        seed_weights, text_weights = (draw_weights(rng, count, size) for size in (seeds, texts))
        drawn += ((seed_weights * differences(text_weights)).sum(1) / seeds).tolist()
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(differences(np.ones((1, texts))).mean()), float(low), float(high)


def draw_weights(rng: np.random.Generator, draws: int, size: int) -> Doubles:
    """How often each of `size` items is drawn, in samples of `size` with replacement.  (draws, size)"""
    rows = np.arange(draws)[:, None] * size
    counts = np.bincount((rng.integers(size, size=(draws, size)) + rows).ravel(), minlength=draws * size)
    return counts.reshape(draws, size).astype(np.float64)
