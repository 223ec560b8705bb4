"""Novelty: how little a text resembles the training texts, from 0 to 1, without anything stored besides the model.

A text of a kind that training had none of leaves the model undecided, and has words that it never saw:

    novelty = 1 − (1 − H) · k²

H is the entropy of the class probabilities, divided by its maximum (with several labels per text: the mean over the labels);
k is the share of words in the vocabulary. A model of numbers has no H, and a model that reads pieces of words or characters
knows every word: the missing factor is then 1. The form was chosen by `benchmarks/novelty.py`, on texts of classes that were
left out of training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from regard.data.tokenizer import Tokenizer
from regard.kernels.pairs import UNKNOWN
from regard.models.model import Model
from regard.models.tasks import Classes, MultiLabel
from regard.records import Prediction

Doubles = NDArray[np.float64]
CHUNK = 4096  # texts encoded at a time


def novelty(trained: Model, texts: Sequence[str], answers: Doubles | None = None) -> Doubles:
    """(texts,) in [0, 1]; `answers` are those of the model, if they are known already."""
    answers = trained.answers(texts) if answers is None else answers
    certainty = np.ones(len(texts))
    if isinstance(trained.task, Classes):
        certainty = 1 - entropy_share(answers)
    elif isinstance(trained.task, MultiLabel):  # every label is a decision between two classes
        certainty = 1 - entropy_share(np.stack((answers, 1 - answers), 2).reshape(-1, 2)).reshape(answers.shape).mean(1)
    return np.clip(1 - certainty * known_share(trained, texts) ** 2, 0, 1)


def with_novelties(trained: Model, texts: Sequence[str], answers: Doubles) -> list[Prediction]:
    """The predictions for texts with these answers, and their novelty."""
    pairs = zip(trained.task.predictions(answers), novelty(trained, texts, answers).tolist(), strict=True)
    return [replace(prediction, novelty=value) for prediction, value in pairs]


def entropy_share(probabilities: Doubles) -> Doubles:
    """(texts,) the entropy of each row over that of equal probabilities."""
    logs = np.log(np.where(probabilities > 0, probabilities, 1))
    return np.asarray(-(probabilities * logs).sum(1) / np.log(probabilities.shape[1]))


def known_share(trained: Model, texts: Sequence[str]) -> Doubles:
    """(texts,) the share of words that are in the vocabulary; 1 for a model without one, and for a text without words."""
    tokenizer = trained.tokenizer
    if not isinstance(tokenizer, Tokenizer):
        return np.ones(len(texts))
    parts = [np.empty(0)]
    for start in range(0, len(texts), CHUNK):
        units = tokenizer.encode_all(texts[start : start + CHUNK])
        is_known = (units.ids > UNKNOWN) & (units.ids < len(tokenizer.vocabulary))
        text_of = np.repeat(np.arange(len(units.words)), np.diff(units.offsets))
        known = np.bincount(text_of, is_known, len(units.words))
        parts.append(np.where(units.words > 0, known / np.maximum(units.words, 1), 1.0))
    return np.concatenate(parts)
