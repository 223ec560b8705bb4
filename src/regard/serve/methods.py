"""Explainers as the server lists them, and how much work one request may ask for."""

from __future__ import annotations

import math
from typing import Any

from regard.explain.explainers import EXPLAINERS
from regard.models.trained import Trained

MOST_WORK = 1_000_000  # words × passes of one request; some ten seconds with a BiLSTM on two cores
LIKE = (
    540_000  # weights of a pretrained encoder that cost as much per word; MiniLM, with six layers, has 20 times as many
)


def as_dict(name: str) -> dict[str, Any]:
    explainer = EXPLAINERS[name]
    return {
        "name": name,
        "title": explainer.title,
        "sentence": explainer.sentence,
        "signed": explainer.signed,
        "control": explainer.is_control,
    }


def work(method: str, words: int) -> float:
    """Words × passes, for one text."""
    passes = EXPLAINERS[method].passes
    return words * (words if passes is None else passes)


def budget(trained: Trained) -> float:
    """Words × passes that a request may take of this model."""
    if not trained.config.model.reads_pieces:
        return MOST_WORK
    own = sum(value.size for name, value in trained.weights.items() if name.startswith("levels.0.encoder."))
    return MOST_WORK / max(1.0, own / LIKE)


def most_words(method: str, budget: float) -> int:
    """The longest text that a request may ask about, if it asks about one."""
    passes = EXPLAINERS[method].passes
    return int(math.sqrt(budget) if passes is None else budget / passes)
