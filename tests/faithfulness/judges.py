"""Judges with known behaviour (a lookup table and a linear model), and texts scored by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from regard.faithfulness.judging import Judge
from regard.faithfulness.scored import Doubles, Scored

# P(class 1) of every text that "good bad film" can become by erasing words
THREE = {
    "good bad film": 0.75,
    "bad film": 0.25,
    "good film": 0.875,
    "good bad": 0.625,
    "good": 1.0,
    "bad": 0.125,
    "film": 0.5,
    "": 0.375,
}


def scored(text: str, scores: Sequence[float], label: int | None = None) -> Scored:
    """Words are separated by spaces."""
    return Scored(text, [match.span() for match in re.finditer(r"\S+", text)], scores, label)


def dictionary(answers: Mapping[str, float] = THREE) -> Judge:
    def judge(texts: Sequence[str]) -> Doubles:
        positive = np.array([answers[text] for text in texts])
        return np.stack([1 - positive, positive], axis=1)

    return judge


def linear(weights: Mapping[str, float]) -> Judge:
    """σ of the sum of the words' weights; unknown words have weight 0."""

    def judge(texts: Sequence[str]) -> Doubles:
        positive = 1 / (1 + np.exp(-np.array([sum(weights.get(word, 0.0) for word in text.split()) for text in texts])))
        return np.stack([1 - positive, positive], axis=1)

    return judge


def linear_corpus(texts: int = 200, seed: int = 0) -> tuple[Judge, dict[str, float], list[str]]:
    """A judge, its weights, and texts of 12 words, of which 2 to 4 have a weight, all with the same sign."""
    rng = np.random.default_rng(seed)
    weights = {f"{side}{n}": sign * (1 + n / 10) for side, sign in (("up", 1), ("down", -1)) for n in range(10)}
    corpus = []
    for _ in range(texts):
        side = rng.choice(["up", "down"])
        evidence = [f"{side}{n}" for n in rng.choice(10, rng.integers(2, 5), replace=False)]
        words = evidence + [f"plain{n}" for n in rng.integers(0, 40, 12 - len(evidence))]
        rng.shuffle(words)
        corpus.append(" ".join(words))
    return linear(weights), weights, corpus
