"""`scale = "auto"`: the λ at which attention is most readable without losing accuracy.

With a small λ attention is sharp and training difficult; with a large λ attention is flat, and VᵀW pulls the classes' scores
apart (Sun & Lu §4.2). Readability is measured as the area under the ROC curve (AUC) with which attention scores separate words
of a class from neutral words. `fit` trains one model per λ of a grid and, among those whose dev accuracy is within one
standard error of the best, takes the one with the largest AUC. Test texts are never used.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from regard.analysis.analyse import find_scores
from regard.analysis.separation import separation
from regard.analysis.token_scores import check_classes, check_scores
from regard.analysis.token_types import token_types
from regard.config import Config
from regard.data.labels import Labels
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.models.tasks import encoded
from regard.models.trained import Trained
from regard.records import Example

GRID = (1.0, 3.0, 10.0, 30.0, 100.0)
MAX_TEXTS = 50_000  # training texts that λ is chosen on


class Trial(NamedTuple):
    scale: float
    accuracy: float  # on dev
    auc: float  # of attention scores: words of a class against neutral words


def check(config: Config) -> None:
    """Refuse models whose attention scores cannot be compared."""
    check_scores(config.model)


def measure_trial(trained: Trained, scale: float, examples: list[Example]) -> Trial:
    task = check_classes(trained)
    if "dev" not in trained.metrics:
        raise InputError("scale = 'auto' needs dev texts, got none; pass more texts, --dev, or a number as scale")
    texts = [example.text for example in examples]
    units = UnitTexts.of(trained.tokenizer, texts, encoded(task, Labels.of(examples), "the training texts"))
    scores, _ = find_scores(trained, units, texts, contexts=True)
    types = token_types(units, len(trained.tokenizer), task.classes)
    separated = separation(scores.attention[types.tied], scores.attention[types.neutral])
    return Trial(scale, float(trained.metrics["dev"]["accuracy"]), math.nan if separated is None else separated.auc)


def pick(trials: list[Trial], texts: int) -> Trial:
    """The most readable trial among those within one standard error of the best, for this number of dev texts."""
    best = max(one.accuracy for one in trials)
    error = math.sqrt(best * (1 - best) / max(texts, 1))
    good = [one for one in trials if one.accuracy >= best - error]
    if all(math.isnan(one.auc) for one in good):  # too few texts for token types
        return max(good, key=lambda one: one.accuracy)
    return max(good, key=lambda one: np.nan_to_num(one.auc, nan=-1.0))


def summary(best: Trial, trials: list[Trial]) -> str:
    each = ", ".join(f"{one.scale:g}: {one.accuracy:.3f} and {one.auc:.2f}" for one in trials)
    return (
        f"λ = {best.scale:g} chosen (by λ, the dev accuracy and the AUC with which attention separates words of a class "
        f"from neutral words: {each})"
    )
