"""Cross-validation: for every text, the answers of models that were not trained on it.

Five folds, stratified by class, are drawn several times with different seeds, and the answers are averaged: training is cheap,
and the mean finds more wrong labels than a single round (`benchmarks/doubts.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.data.labels import Labels
from regard.data.splitting import fold_rows
from regard.errors import InputError
from regard.models.tasks import Classes, MultiLabel, Regression, Task, encoded
from regard.models.trained import Trained
from regard.novelty import novelty
from regard.recorder import Recorder, Silent
from regard.records import Example
from regard.training.defaults import choose_engine
from regard.training.fit import Parts, fit
from regard.training.preparation import find_task

FOLDS, SEEDS = 5, 3
NEVER = -1  # the fold of a text that is never held out
Ints = NDArray[np.int64]
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class OutOfFold:
    """What models say about texts that they were not trained on."""

    task: Task
    labels: Doubles  # (texts,) class numbers, or the numbers as written
    answers: Doubles  # (texts, classes) probabilities, or (texts, 1) values: means over the seeds
    novelty: Doubles  # (texts,) likewise
    models: list[Trained]  # those of the first seed, one per fold
    fold: Ints  # (texts,) in which of these folds the text is held out; NEVER if it is the only one of its class


def cross_validate(
    examples: Sequence[Example], config: Config, where: str, seeds: int = SEEDS, recorder: Recorder | None = None
) -> OutOfFold:
    """Train on all folds but one, and answer that one, for every fold and seed."""
    recorder = recorder or Silent()
    names = Labels.of(examples)
    task = find_task(config, names, recorder, where)
    if isinstance(task, MultiLabel):
        raise InputError(
            f"{where}: expected one label per text, got several; doubts about one of them need a file with that label alone"
        )
    labels = encoded(task, names, where)
    if isinstance(task, Regression):
        labels = labels * task.scale + task.mean
    strata = labels.astype(np.int64) if isinstance(task, Classes) else np.zeros(len(labels), dtype=np.int64)
    texts = [example.text for example in examples]
    answers, novel = unjudged(task, labels), np.zeros(len(texts))
    models: list[Trained] = []
    folds = [draw_folds(strata, seed, isinstance(task, Classes)) for seed in range(seeds)]
    is_judged = folds[0] != NEVER
    note_unjudged(is_judged, where, recorder)
    answers[is_judged] = 0
    fixed: dict[str, object] = {"task": task.kind, "train": None, "dev": None, "test": None, "record": "no"}
    if choose_engine(config).training.engine == "sparse":
        # no texts are held out for early stopping: their labels may be wrong too, and the defaults know how long to train
        fixed["dev_fraction"] = 0.0
        fixed |= {"members": 1, "spelling": False, "linear": False}  # the rounds are averaged already
    for seed, fold in enumerate(folds):
        options = config.override({**fixed, "seed": config.training.seed + seed})
        recorder.note(f"cross-validation, round {seed + 1} of {seeds}: {int(fold.max()) + 1} folds")
        for held in range(int(fold.max()) + 1):
            kept = [example for example, of in zip(examples, fold, strict=True) if of != held]
            rows = np.flatnonzero(fold == held)
            out = [texts[row] for row in rows]
            trained = fit(options, Parts(kept, names=(where, "", "")))
            said = trained.answers(out)
            answers[rows] += said / seeds
            novel[rows] += novelty(trained, out, said) / seeds
            if seed == 0:
                models.append(trained)
    return OutOfFold(task, labels, answers, novel, models, folds[0])


def draw_folds(strata: Ints, seed: int, stratified: bool = True) -> Ints:
    """(texts,) the fold of each text. Those of a stratum go round the folds in random order, a lone one into none.

    With two or more texts in a stratum, every fold's training texts have at least one of them.
    """
    fold = fold_rows(strata, min(FOLDS, len(strata)), seed, stream=7927)
    return fold if stratified else np.maximum(fold, 0)


def unjudged(task: Task, labels: Doubles) -> Doubles:
    """Answers that agree with the labels."""
    if isinstance(task, Classes):
        return np.eye(len(task.classes))[labels.astype(np.int64)]
    return labels[:, None].copy()


def note_unjudged(is_judged: NDArray[np.bool_], where: str, recorder: Recorder) -> None:
    lone = int((~is_judged).sum())
    if lone == len(is_judged):
        raise InputError(f"{where}: expected two or more texts of some label, got one of each; add labelled texts")
    if lone:
        subject = "1 label has" if lone == 1 else f"{lone} labels have"
        recorder.note(f"{subject} a single text, which cannot be judged without others of its kind")
