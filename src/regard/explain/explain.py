"""Texts in, explanations out: the weight of every word and sentence in the prediction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from regard.explain.attribute import attributions
from regard.explain.explainers import default_method
from regard.models.trained import Trained
from regard.records import Explanation

CHUNK = 512  # texts held at a time, so that a large file streams


def explain(
    trained: Trained, texts: Sequence[str], labels: Sequence[str | float | None] | None = None
) -> Iterator[Explanation]:
    """One explanation per text, in order, by the model's default method: `attribute` in parts, as records to draw."""
    method = default_method(trained)
    for start in range(0, len(texts), CHUNK):
        part = texts[start : start + CHUNK]
        true = [None] * len(part) if labels is None else labels[start : start + CHUNK]
        for one, label in zip(attributions(trained, part, method, None, {}), true, strict=True):
            yield one.explanation(label)
