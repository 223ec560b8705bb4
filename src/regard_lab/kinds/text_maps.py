"""Text vectors in the plane (t-SNE), and how close together the texts of a class lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def closeness(vectors: Doubles, labels: NDArray[np.int64]) -> float:
    """The mean distance of two texts of one class over that of two texts of different classes: below 1 classes lie apart."""
    squares = (vectors**2).sum(1)
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * vectors @ vectors.T, 0))
    pairs = np.triu(np.ones(apart.shape, dtype=bool), 1)
    same = labels[:, None] == labels
    within, between = apart[pairs & same], apart[pairs & ~same]
    return float(within.mean() / between.mean()) if len(within) and len(between) and between.mean() else float("nan")


def plane(vectors: Doubles) -> list[list[float]]:
    """Two coordinates a text, to two digits."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(vectors) - 1) / 3)
    made = TSNE(2, perplexity=perplexity, init="pca", learning_rate="auto", random_state=0).fit_transform(vectors)
    return [[round(float(x), 2), round(float(y), 2)] for x, y in made]
