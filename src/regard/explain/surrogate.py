"""A linear approximation of the model near one text (LIME, Ribeiro et al. 2016, with its choices for text).

Versions of the text are sampled: first how many words to leave out, uniformly from one to all, then which ones. The model
predicts each. A ridge regression on which words remain, weighted by proximity to the text, gives each word a coefficient:

    π(z) = exp(−d(z)² / (2 width²)),   d(z) = 1 − √(share of words kept), the cosine distance,   width = 0.25

as LIME's √exp(−d²/width²). Unlike in LIME, each occurrence of a word has its own coefficient, as in every other explainer here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.explain.reading import CHUNK, Ints, Reading, left, logits_of
from regard.explain.targets import explained, probability, settled
from regard.explain.word_scores import WordScores
from regard.models.model import Model
from regard.models.tasks import Named

Doubles = NDArray[np.float64]
WIDTH = 0.25


def surrogate(
    trained: Model,
    readings: Sequence[Reading],
    targets: Ints,
    *,
    samples: int = 500,
    ridge: float = 1.0,
    of: Literal["logit", "probability"] = "logit",
    seed: int = 0,
) -> list[WordScores]:
    """`samples` versions, including the whole text. `facts`: samples, width, ridge, of, r2 (weighted, of the regression)."""
    if not isinstance(samples, int) or samples < 2:
        raise InputError(f"samples: expected a whole number above 1, got {samples!r}")
    if not isinstance(ridge, int | float) or not 0 < ridge < float("inf"):
        raise InputError(f"ridge: expected a number above 0, got {ridge!r}")
    if of not in ("logit", "probability"):
        raise InputError(f"of: expected one of logit, probability, got {of!r}")
    task = trained.task
    counts = [samples if reading.words else 1 for reading in readings]
    logits = logits_of(trained, versions(trained, readings, counts, seed))
    records, low = [], 0
    for reading, target, count in zip(readings, targets, counts, strict=True):
        rows = logits[low : low + count]
        chosen = np.repeat(settled(task, rows[:1], np.array([target])), count)
        of_probability = of == "probability" and isinstance(task, Named)
        values = probability(task, rows, chosen) if of_probability else explained(task, rows, chosen)
        fitted = regression(draw(reading, count, seed), values, ridge)
        facts = {"samples": count, "width": WIDTH, "ridge": ridge, "of": of, "r2": fitted.r2}
        records.append(WordScores(fitted.coefficients, rows[0], int(chosen[0]), count, facts=facts))
        low += count
    return records


def draw(reading: Reading, samples: int, seed: int) -> NDArray[np.bool_]:
    """(samples, words), True where a word stays; the first row keeps all."""
    words = reading.words
    kept = np.ones((samples, words), dtype=bool)
    if words:
        rng = reading.rng(seed)
        erased = rng.integers(1, words + 1, samples - 1)
        order = rng.permuted(np.broadcast_to(np.arange(words), (samples - 1, words)), axis=1)
        kept[1:] = order >= erased[:, None]
    return kept


def versions(trained: Model, readings: Sequence[Reading], counts: Sequence[int], seed: int) -> Iterator[Indexed]:
    for reading, count in zip(readings, counts, strict=True):
        yield reading.indexed
        kept = draw(reading, count, seed)[1:]
        for low in range(0, len(kept), CHUNK):
            yield from left(trained, reading, kept[low : low + CHUNK])


class Fitted(NamedTuple):
    coefficients: Doubles  # (words,)
    r2: float  # 1 where nothing varies


def regression(kept: NDArray[np.bool_], values: Doubles, ridge: float) -> Fitted:
    """The minimum of Σ π (y − b − x·w)² + ridge ‖w‖²; b is not penalised."""
    weights = proximity(kept)
    share = weights / weights.sum()
    x, y = kept.astype(np.float64), values - share @ values
    x -= share @ x
    root = np.sqrt(weights)
    a, b = x * root[:, None], y * root
    if a.shape[1] <= len(a):
        coefficients = np.linalg.solve(a.T @ a + ridge * np.eye(a.shape[1]), a.T @ b)
    else:  # more words than versions: the same solution from the smaller side
        coefficients = a.T @ np.linalg.solve(a @ a.T + ridge * np.eye(len(a)), b)
    error, total = float(np.square(b - a @ coefficients).sum()), float(np.square(b).sum())
    return Fitted(coefficients, 1 - error / total if total > 0 else 1.0)


def proximity(kept: NDArray[np.bool_]) -> Doubles:
    """π, (versions,)"""
    words = kept.shape[1]
    distance = 1 - np.sqrt(kept.sum(1) / words) if words else np.zeros(len(kept))
    return np.asarray(np.exp(-np.square(distance / WIDTH) / 2))
