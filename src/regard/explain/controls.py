"""What no model made, to stand beside what explainers say: chance, and how telling a word is of its text among texts.

One pass, for the prediction alone.
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
from regard.models.trained import Trained

Doubles = NDArray[np.float64]


def random(trained: Trained, readings: Sequence[Reading], targets: Ints, *, seed: int = 0) -> list[WordScores]:
    """Evenly from [0, 1)."""
    return controlled(trained, readings, targets, lambda reading: reading.chance(seed).random(reading.words))


def tfidf(
    trained: Trained, readings: Sequence[Reading], targets: Ints, *, background: Sequence[str] | None = None
) -> list[WordScores]:
    """count × (log((1 + texts) / (1 + texts with the word)) + 1), as scikit-learn has it. Texts with the word are counted
    among the background; where none is given, among the texts that are explained."""
    if background is not None:
        check_texts(background, "background")
    lowercase = trained.tokenizer.lowercase
    texts = [reading.text for reading in readings] if background is None else background
    seen = Counter(form for text in texts for form in set(forms(text, lowercase)))

    def weighed(reading: Reading) -> Doubles:
        words = forms(reading.text, lowercase)[: reading.words]
        counts = Counter(words)
        rare = np.array([np.log((1 + len(texts)) / (1 + seen[word])) + 1 for word in words])
        return np.asarray([counts[word] for word in words] * rare, dtype=np.float64)

    return controlled(trained, readings, targets, weighed)


def controlled(
    trained: Trained, readings: Sequence[Reading], targets: Ints, score: Callable[[Reading], Doubles]
) -> list[WordScores]:
    logits = logits_of(trained, [reading.indexed for reading in readings])
    chosen = settled(trained.task, logits, targets)
    rows = zip(readings, logits, chosen, strict=True)
    return [WordScores(score(reading), own, int(target), forward=1) for reading, own, target in rows]
