"""Which unlabelled texts are worth labelling: those that the models are least sure of, and that differ from each other."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from regard.doubts.duplicates import normalised
from regard.models.tasks import Classes, Task

Doubles = NDArray[np.float64]
HASHED = 1 << 12  # width of the vectors in which texts are compared
PER_CHOICE, MOST = 10, 5_000  # candidates per text to choose, and at most: the uncertain ones


def uncertainty(task: Task, answers: Doubles) -> Doubles:
    """(texts,) from the answers of several models, (models, texts, …): one minus the lead of the likeliest class over the
    second; of numbers, the standard deviation between the models."""
    if not isinstance(task, Classes):
        return np.asarray(answers[:, :, 0].std(0))
    ordered = np.sort(answers.mean(0), axis=1)
    return np.asarray(1 - (ordered[:, -1] - ordered[:, -2]))


def choose(texts: Sequence[str], uncertain: Doubles, count: int) -> list[int]:
    """Greedily, the text with the largest uncertainty × (1 − its greatest similarity to those chosen before)."""
    most = min(MOST, max(PER_CHOICE * count, count))
    candidates = np.argsort(-uncertain, kind="stable")[:most]
    vectors = hashed_words([texts[row] for row in candidates])
    similar = np.zeros(len(candidates))
    chosen: list[int] = []
    is_open = np.ones(len(candidates), dtype=bool)
    for _ in range(min(count, len(candidates))):
        worth = np.where(is_open, uncertain[candidates] * (1 - similar), -1.0)
        best = int(worth.argmax())
        chosen.append(int(candidates[best]))
        is_open[best] = False
        similar = np.maximum(similar, np.clip(vectors @ vectors[best], 0, 1))
    return chosen


def hashed_words(texts: Sequence[str]) -> NDArray[np.float32]:
    """(texts, HASHED) unit vectors of the words that occur, rare ones weighing more."""
    counts = np.zeros((len(texts), HASHED), dtype=np.float32)
    for row, text in enumerate(texts):
        counts[row, [crc32(word.encode("utf-8", "replace")) % HASHED for word in normalised(text)]] = 1
    counts *= np.log((1 + len(texts)) / (1 + counts.sum(0))) + 1
    lengths = np.linalg.norm(counts, axis=1, keepdims=True)
    return np.asarray(counts / np.maximum(lengths, 1e-9), dtype=np.float32)
