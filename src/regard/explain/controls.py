"""Controls, which do not use the model: random numbers and TF-IDF. An explainer should do better.

Their single pass is for the prediction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.words import forms
from regard.explain.reading import Ints, Reading, check_texts, logits_of
from regard.explain.targets import settled
from regard.explain.word_scores import WordScores
from regard.models.model import Model

Doubles = NDArray[np.float64]


def random(trained: Model, readings: Sequence[Reading], targets: Ints, *, seed: int = 0) -> list[WordScores]:
    """Uniform in [0, 1)."""
    return scored(trained, readings, targets, lambda reading: reading.rng(seed).random(reading.words))


def tfidf(
    trained: Model, readings: Sequence[Reading], targets: Ints, *, background: Sequence[str] | None = None
) -> list[WordScores]:
    """count × (log((1 + texts) / (1 + texts with the word)) + 1), as in scikit-learn. Texts with the word are counted in
    the background or, without one, in the texts that are explained."""
    if background is not None:
        check_texts(background, "background")
    lowercase = trained.tokenizer.lowercase
    texts = [reading.text for reading in readings] if background is None else background
    document_counts = Counter(form for text in texts for form in set(forms(text, lowercase)))

    def score(reading: Reading) -> Doubles:
        words = forms(reading.text, lowercase)[: reading.words]
        counts = Counter(words)
        rarity = np.array([np.log((1 + len(texts)) / (1 + document_counts[word])) + 1 for word in words])
        return np.asarray([counts[word] for word in words] * rarity, dtype=np.float64)

    return scored(trained, readings, targets, score)


def scored(
    trained: Model, readings: Sequence[Reading], targets: Ints, score: Callable[[Reading], Doubles]
) -> list[WordScores]:
    logits = logits_of(trained, [reading.indexed for reading in readings])
    chosen = settled(trained.task, logits, targets)
    rows = zip(readings, logits, chosen, strict=True)
    return [WordScores(score(reading), row, int(target), forward=1) for reading, row, target in rows]
