"""Explainers as the server lists them, and how much work one request may ask for."""

from __future__ import annotations

import math

from regard.explain.explainers import EXPLAINERS
from regard.models.model import Model
from regard.serve.answers import MethodDescription

MAX_WORK = 1_000_000  # words × passes of one request; about ten seconds with a BiLSTM on two cores
# a pretrained encoder with this many weights costs as much per word as that BiLSTM; MiniLM (six layers) has 20 times as many
REFERENCE_WEIGHTS = 540_000


def as_dict(name: str) -> MethodDescription:
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


def budget(trained: Model) -> float:
    """How many words × passes a request to this model may take."""
    return MAX_WORK / max(1.0, trained.encoder_weights / REFERENCE_WEIGHTS)


def max_words(method: str, budget: float) -> int:
    """The longest text of a request, if it has only one."""
    passes = EXPLAINERS[method].passes
    return int(math.sqrt(budget) if passes is None else budget / passes)
