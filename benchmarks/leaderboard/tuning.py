"""Tuned settings: every system gets the same number of trials on a held-out fifth of the texts that were drawn.

The first trial is the setting of the untuned system, the others are drawn at random. The options with the highest accuracy on
the fifth are trained on all drawn texts; of equal ones, the first. The test split plays no part. What is drawn depends on the
seed of the cell alone, so a search can be repeated.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from linear_models import fit_tfidf
from neural_models import fit_fasttext, fit_regard
from system import Diverged, Fit, Fitted, Options, Search, Texts

TRIALS = 20
HELD_OUT = 5  # one in five texts

Generator = np.random.Generator


@dataclass(frozen=True)
class Space:
    fit: Callable[[Options], Fit]
    draw: Callable[[Generator], Options]
    needs: tuple[str, ...] = ()


def between(rng: Generator, low: float, high: float) -> float:
    """At random with equal weight for equal factors, three significant digits."""
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.3g}")


def regard_options(rng: Generator) -> Options:
    return {
        "lr": between(rng, 0.02, 1.0),
        "epochs": round(between(rng, 2, 20)),
        "scale": between(rng, 0.5, 30.0),
        "dropout": round(rng.uniform(0.0, 0.5), 2),
        "min_count": int(rng.integers(1, 4)),
    }


def tfidf_options(rng: Generator, low: float, high: float) -> Options:
    return {
        "C": between(rng, low, high),
        "ngram_range": (1, int(rng.integers(1, 3))),
        "sublinear_tf": bool(rng.integers(2)),
        "min_df": int(rng.integers(1, 3)),
    }


def fasttext_options(rng: Generator) -> Options:
    return {"lr": between(rng, 0.05, 1.0), "epochs": round(between(rng, 5, 50)), "ngrams": int(rng.integers(1, 3))}


SPACES = {
    "regard": Space(fit_regard, regard_options),
    "TF-IDF, LR": Space(
        lambda options: fit_tfidf("lr", options), lambda rng: tfidf_options(rng, 0.3, 100), ("sklearn",)
    ),
    "TF-IDF, LinearSVC": Space(
        lambda options: fit_tfidf("svc", options), lambda rng: tfidf_options(rng, 0.03, 10), ("sklearn",)
    ),
    "fastText": Space(fit_fasttext, fasttext_options, ("fasttext",)),
}


def fit_tuned(space: Space, trials: int) -> Fit:
    def fit(texts: Texts, labels: Texts, seed: int) -> Fitted:
        found = search(space, texts, labels, seed, trials)
        return replace(space.fit(found.options)(texts, labels, seed), search=found)

    return fit


def search(space: Space, texts: Texts, labels: Texts, seed: int, trials: int) -> Search:
    before, started = os.times(), time.perf_counter()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(texts))
    held_out, kept = order[: len(order) // HELD_OUT], order[len(order) // HELD_OUT :]
    tried: list[tuple[float, Options]] = []
    for number in range(trials):
        options = space.draw(rng) if number else {}
        try:
            fitted = space.fit(options)([texts[row] for row in kept], [labels[row] for row in kept], seed)
            answers = fitted.predict([texts[row] for row in held_out])
            right = sum(answer == labels[row] for answer, row in zip(answers, held_out, strict=True))
        except Diverged:
            right = 0
        tried.append((100 * right / len(held_out), options))
    accuracy, options = max(tried, key=lambda pair: pair[0])
    after = os.times()
    cpu = after.user + after.system - before.user - before.system
    return Search(options, trials, round(accuracy, 3), round(time.perf_counter() - started, 3), round(cpu, 3))
