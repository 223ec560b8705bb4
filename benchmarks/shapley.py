"""Shapley values of the words of a text, and how often contributions have the other sign: `explanations.py shapley`.

The players are the words, the value of a set of words is the log-odds of the answer to the text with only these words. A
Shapley value is a word's marginal contribution, averaged over all orders in which words are added. Texts of up to
EXACT_WORDS words get exact values. For others orders are sampled in antithetic pairs, an order and its reverse; the standard
error is that of the mean over pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from explained_models import SEED, sample, trained_model
from numpy.typing import NDArray
from word_signs import TOP, compare, proportion

from regard.explain.attribute import attribute
from regard.explain.reading import Reading, left, read
from regard.explain.targets import explained
from regard.explain.word_scores import Attributed
from regard.faithfulness.ranking import ranking
from regard.kernels.attention import attend
from regard.models.trained import Trained

EXACT_WORDS = 10
PAIRS = 128  # of orders
MOST_WORDS = 200
CERTAIN = 2  # standard errors from 0

Doubles = NDArray[np.float64]
Kept = NDArray[np.bool_]  # (sets, words)
Value = Callable[[Kept], Doubles]  # (sets,)


class Shapley(NamedTuple):
    values: Doubles  # (words,)
    errors: Doubles  # (words,) 0 if they are exact

    @property
    def certain(self) -> NDArray[np.bool_]:
        return np.asarray(np.abs(self.values) > CERTAIN * self.errors)


def shapley(value: Value, words: int, rng: np.random.Generator, pairs: int = PAIRS) -> Shapley:
    return exact(value, words) if words <= EXACT_WORDS else sampled(value, words, rng, pairs)


def exact(value: Value, words: int) -> Shapley:
    """φ_i = Σ over sets S without i of |S|! (n − |S| − 1)! / n! · (v(S ∪ {i}) − v(S))"""
    numbers = np.arange(2**words)
    kept = (numbers[:, None] >> np.arange(words) & 1).astype(bool)
    values, sizes = value(kept), kept.sum(1)
    weights = np.array([1 / (words * math.comb(words - 1, size)) for size in range(words)])
    result = np.empty(words)
    for word in range(words):
        without = numbers[~kept[:, word]]
        result[word] = weights[sizes[without]] @ (values[without + (1 << word)] - values[without])
    return Shapley(result, np.zeros(words))


def sampled(value: Value, words: int, rng: np.random.Generator, pairs: int) -> Shapley:
    forward = rng.permuted(np.broadcast_to(np.arange(words), (pairs, words)), axis=1)
    orders = np.concatenate((forward, forward[:, ::-1]))  # (2 pairs, words) the word that is added at each step
    ranks = orders.argsort(1)
    kept = ranks[:, None, :] < np.arange(words + 1)[:, None]  # (orders, steps, words)
    values = value(kept.reshape(-1, words)).reshape(2 * pairs, words + 1)
    gains = np.take_along_axis(np.diff(values, axis=1), ranks, axis=1)  # (orders, words)
    means = (gains[:pairs] + gains[pairs:]) / 2
    return Shapley(means.mean(0), means.std(0, ddof=1) / math.sqrt(pairs))


def log_odds(trained: Trained, reading: Reading, target: int) -> Value:
    """The value of a set of words for a flat model."""

    def value(kept: Kept) -> Doubles:
        texts = left(trained, reading, kept)
        offsets = np.concatenate([[0], np.cumsum([len(text.ids) for text in texts])])
        logits = np.empty((len(texts), trained.task.out_dim), dtype=np.float32)
        ids = np.concatenate([text.ids for text in texts])
        attend(ids, offsets, *trained.tables, logits, np.empty(0, dtype=np.float32))
        return explained(trained.task, logits.astype(np.float64), np.full(len(texts), target))

    return value


def measure_shapley(corpus: str, texts: int = 200) -> dict[str, Any]:
    trained = trained_model("fast engine", corpus)
    chosen = [one.text for one in sample(corpus, "test", texts, MOST_WORDS)]
    attributed = {method: attribute(trained, chosen, method) for method in ("attention", "leave_one_out")}
    targets = [one.target or 0 for one in attributed["leave_one_out"]]
    truth = [
        shapley(log_odds(trained, reading, target), reading.words, reading.rng(SEED))
        for reading, target in zip(read(trained, chosen), targets, strict=True)
    ]
    uncertain = np.concatenate([~one.certain for one in truth])
    return {
        "texts": len(chosen),
        "words": len(uncertain),
        "most_words": MOST_WORDS,
        "orders": 2 * PAIRS,
        "exact_texts": sum(len(one.values) <= EXACT_WORDS for one in truth),
        "uncertain": proportion(int(uncertain.sum()), len(uncertain)),
        "weight": agreement(attributed["attention"], truth),
        "contribution": agreement(attributed["leave_one_out"], truth),
    }


def agreement(attributed: Sequence[Attributed], truth: Sequence[Shapley]) -> dict[str, Any]:
    """With all words, and with those whose Shapley value has a certain sign."""
    scores = [one.scores for one in attributed]
    return {
        "all": compare(scores, [one.values for one in truth]),
        "certain": compare(scores, [np.where(one.certain, one.values, np.nan) for one in truth]),
        "uncertain_top_ten": uncertain_strongest(scores, truth),
    }


def uncertain_strongest(scores: Sequence[Doubles], truth: Sequence[Shapley]) -> dict[str, Any]:
    """How many of the strongest words have a Shapley value of uncertain sign."""
    uncertain = [~one.certain[ranking(np.abs(of_text))[:TOP]] for of_text, one in zip(scores, truth, strict=True)]
    every = np.concatenate(uncertain)
    return proportion(int(every.sum()), len(every))
