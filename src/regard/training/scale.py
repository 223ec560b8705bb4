"""`scale = "auto"`: the λ at which attention is most readable without losing accuracy.

Small λ makes attention sharp and training hard; large λ makes attention flat, and VᵀW pulls the classes' scores apart (Sun &
Lu §4.2). What is readable can be measured: the area under the ROC curve (AUC) with which attention scores tell words of a
class from neutral words. So every λ of a grid is tried, and of those whose dev accuracy is within one standard error of the
best, the one with the largest AUC is taken. Test texts are never looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
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
from regard.recording import Recorder
from regard.records import Example
from regard.training.fit import Parts, fit

GRID = (1.0, 3.0, 10.0, 30.0, 100.0)
MOST = 50_000  # texts that λ is chosen on


class Tried(NamedTuple):
    scale: float
    accuracy: float  # on dev
    auc: float  # of attention scores, words of a class against neutral ones


def choose_scale(config: Config, parts: Parts, recorder: Recorder) -> Config:
    """The same with a number for λ."""
    check_scores(config.model)
    train, dev = some(parts.train), None if parts.dev is None else some(parts.dev)
    if len(train) == MOST:
        recorder.note(f"λ is chosen on the first {MOST:,} texts")
    tried = []
    for scale in GRID:
        recorder.note(f"trying λ = {scale:g}")
        own = config.override({"scale": scale, "record": "no"})
        tried.append(measure(fit(own, Parts(train, dev, None, parts.names, parts.column)), scale, train))
    texts = len(dev) if dev is not None else round(len(train) * config.data.dev_fraction)
    best = pick(tried, texts)
    recorder.note(told(best, tried))
    return config.override({"scale": best.scale})


def some(examples: Iterable[Example]) -> list[Example]:
    return list(islice(examples, MOST))


def measure(trained: Trained, scale: float, examples: list[Example]) -> Tried:
    task = check_classes(trained)
    if "dev" not in trained.metrics:
        raise InputError("scale = 'auto' needs dev texts to choose by: more texts, --dev, or a number are accepted")
    texts = [example.text for example in examples]
    units = UnitTexts.of(trained.tokenizer, texts, encoded(task, Labels.of(examples), "the training texts"))
    scores, _ = find_scores(trained, units, texts, contexts=True)
    types = token_types(units, len(trained.tokenizer), task.classes)
    found = separation(scores.attention[types.tied], scores.attention[types.neutral])
    return Tried(scale, float(trained.metrics["dev"]["accuracy"]), math.nan if found is None else found.auc)


def pick(tried: list[Tried], texts: int) -> Tried:
    """The most readable of those that are as good as the best, as far as so many dev texts can tell."""
    best = max(one.accuracy for one in tried)
    error = math.sqrt(best * (1 - best) / max(texts, 1))
    good = [one for one in tried if one.accuracy >= best - error]
    if all(math.isnan(one.auc) for one in good):  # too few texts for types: nothing to read, so the most accurate
        return max(good, key=lambda one: one.accuracy)
    return max(good, key=lambda one: np.nan_to_num(one.auc, nan=-1.0))


def told(best: Tried, tried: list[Tried]) -> str:
    each = ", ".join(f"{one.scale:g}: {one.accuracy:.3f} and {one.auc:.2f}" for one in tried)
    return (
        f"λ = {best.scale:g} chosen (dev accuracy and how well attention tells words of a class from neutral ones, "
        f"as AUC, by λ: {each})"
    )
