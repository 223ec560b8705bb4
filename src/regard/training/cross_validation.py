"""Cross-validation: how well a training run with these options does on texts it has not seen, before the final training.

The training texts are divided into folds, stratified by class. For every fold a model is trained on the others as the final one
will be, including what is held out for early stopping, and scored on the fold; no decision is made on the fold itself.

The interval of the mean is Student's t with the variance of Nadeau & Bengio (2003): models of different folds share most of
their training texts, so that the spread of their scores alone would give intervals that are too narrow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from regard.config import Config
from regard.data.labels import Labels
from regard.data.splitting import fold_rows
from regard.errors import InputError
from regard.files import write
from regard.models.tasks import strata
from regard.recorder import Recorder, Silent
from regard.run_metrics import CrossValidation, Scores
from regard.student import t_quantile
from regard.training.fit import Parts, Run, prepare
from regard.training.metrics import scalar_metrics
from regard.training.preparation import find_task

FEWEST, MOST = 2, 100  # folds
LARGEST = 1 << 20  # bytes that are read of the scores of finished folds
KEPT = ("accuracy", "macro_f", "micro_f1", "macro_f1", "subset_accuracy", "map", "log_loss", "rmse", "mae", "r2")
MAIN = {  # in the note about a fold
    "accuracy": "accuracy",
    "macro_f": "macro F1",
    "micro_f1": "micro F1",
    "macro_f1": "macro F1",
    "rmse": "RMSE",
}


class Bar(Silent):
    """Passes on the progress within epochs, but neither notes nor epochs: those of the final training follow."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.recorder.begin(epoch, epochs, steps)

    def step(self, loss: float | None) -> None:
        self.recorder.step(loss)


def check_folds(folds: int, config: Config) -> None:
    """Refuse what is certainly wrong before anything is read."""
    if not FEWEST <= folds <= MOST:
        raise InputError(f"--cv: expected a whole number from {FEWEST} to {MOST}, got {folds}")
    if config.data.dev is not None:
        raise InputError(
            f"--cv {folds}: expected no --dev, because the folds are parts of the training texts, got {config.data.dev}; "
            "leave one of the two out"
        )


def find_folds(labels: Labels, folds: int, config: Config, where: str) -> tuple[NDArray[np.int64], Config]:
    """The fold of every text, −1 for the only text of its class, and the options with the task that all texts have."""
    if len(labels) < 2 * folds:
        raise InputError(f"{where}: expected at least {2 * folds} texts for {folds} folds, got {len(labels)}")
    task = find_task(config, labels, Silent(), where)
    chosen = fold_rows(strata(task, labels), folds, config.training.seed)
    if np.bincount(chosen[chosen >= 0], minlength=folds).min() == 0:
        raise InputError(f"{where}: expected classes with several texts for {folds} folds, got too many with only one")
    return chosen, config.override({"task": task.kind})


def cross_validate(
    config: Config, parts: Parts, folds: int, recorder: Recorder, saved: Path | None = None
) -> CrossValidation:
    """`saved`: a file with the scores of folds that were finished before, to which those of others are added."""
    examples = list(parts.train)
    chosen, config = find_folds(Labels.of(examples), folds, config.override({"record": "no"}), parts.names[0])
    if alone := int((chosen < 0).sum()):
        recorder.note(f"{alone} text{'s' * (alone != 1)} alone in a class: in no fold, always trained on")
    finished = read_finished(saved)
    scores: list[Scores] = []
    sizes = [int((chosen == fold).sum()) for fold in range(folds)]
    for fold in range(folds):
        name = f"fold {fold + 1} of {folds}"
        recorder.enter(name)
        kept = [example for example, one in zip(examples, chosen, strict=True) if one != fold]
        held = [example for example, one in zip(examples, chosen, strict=True) if one == fold]
        prepared = prepare(config, Parts(kept, parts.dev, held, parts.names, parts.column), Silent())
        known = finished.get(prepared.identity)
        if known is None:
            measured = scalar_metrics(prepared.fit(Run(Bar(recorder))).metrics["test"])
            known = finished[prepared.identity] = {key: measured[key] for key in KEPT if key in measured}
            if saved is not None:
                write(saved, json.dumps(finished))
        scores.append(known)
        recorder.note(
            f"{name}: " + ", ".join(f"{title} {known[key]:.4f}" for key, title in MAIN.items() if key in known)
        )
    recorder.enter("all texts")  # the final training
    return summarised(scores, sizes, config.training.seed)


def summarised(scores: Sequence[Scores], sizes: list[int], seed: int) -> CrossValidation:
    intervals = {name: mean_interval([one[name] for one in scores]) for name in scores[0]}
    return {
        "folds": len(scores),
        "seed": seed,
        "texts": sizes,
        "scores": list(scores),
        "mean": {name: mean for name, (mean, _) in intervals.items()},
        "interval": {name: [mean - half, mean + half] for name, (mean, half) in intervals.items()},
    }


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean over folds, and half the width of its 95 % interval."""
    folds = len(values)
    deviation = float(np.std(values, ddof=1))
    widened = math.sqrt(1 / folds + 1 / (folds - 1))  # 1/k + test texts / training texts
    return float(np.mean(values)), t_quantile(folds - 1, 0.975) * deviation * widened


def read_finished(path: Path | None) -> dict[str, Scores]:
    """By the identity of a fold's training; a file that cannot be read counts as empty, and its folds are repeated."""
    if path is None or not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            rows = json.loads(file.read(LARGEST))
        return {str(identity): {str(k): float(v) for k, v in row.items()} for identity, row in rows.items()}
    except (ValueError, AttributeError, TypeError, OverflowError, RecursionError):
        return {}
