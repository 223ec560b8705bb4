"""The score of one trial: on a fixed dev part, or the mean over folds; stopped early if it falls behind other trials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from regard.config import Config
from regard.data.labels import Labels
from regard.data.splitting import hold_out_groups
from regard.errors import InputError
from regard.models.tasks import MultiLabel, Regression, strata
from regard.recorder import Silent
from regard.run_metrics import EpochRecord, Metrics, Scores
from regard.training.cross_validation import find_folds
from regard.training.fit import Parts, Run, fit
from regard.training.preparation import find_task

DEV = 0.2  # of the training texts, without --dev
SEVERAL = {"accuracy": "micro_f1", "macro_f": "macro_f1"}  # what a measure stands for with several labels per text
QUARTERS = 4  # of its epochs: when a trial is compared with others
Report = Callable[[float, int], None]  # a score so far and when it was measured; raises to stop the trial


class Splits(NamedTuple):
    """What every trial is trained and scored on; the dev part of each is scored."""

    parts: Sequence[Parts]
    config: Config  # with the task of all texts
    measure: str  # accuracy, macro_f or rmse; of several labels micro_f1 or macro_f1

    @property
    def minimised(self) -> bool:
        return self.measure == "rmse"


def split(config: Config, parts: Parts, folds: int | None, select: str | None) -> Splits:
    """Stratified, and the same for all trials. `parts.dev` is used if given; folds only without it."""
    examples = list(parts.train)
    labels, where = Labels.of(examples), parts.names[0]
    task = find_task(config, labels, Silent(), where)
    config = config.override({"task": task.kind})
    is_regression = isinstance(task, Regression)
    if select is not None and is_regression:
        raise InputError(f"--select {select}: expected classes, got numbers, for which the RMSE decides; leave it out")
    names, column = (where, where if parts.dev is None else parts.names[1], parts.names[2]), parts.column
    pairs = []
    if folds is not None:
        chosen, config = find_folds(labels, folds, config, where)
        for fold in range(folds):
            kept = [example for example, one in zip(examples, chosen, strict=True) if one != fold]
            held = [example for example, one in zip(examples, chosen, strict=True) if one == fold]
            pairs.append((kept, held))
    elif parts.dev is not None:
        pairs.append((examples, list(parts.dev)))
    else:
        pairs.append(hold_out_groups(examples, strata(task, labels), DEV, config.training.seed))
        if not pairs[0][1]:
            raise InputError(f"{where}: expected enough texts to hold some out, got {len(examples)}; pass --dev")
    measure = "rmse" if is_regression else select or "accuracy"
    if isinstance(task, MultiLabel):
        measure = SEVERAL.get(measure, measure)
    return Splits([Parts(kept, held, None, names, column) for kept, held in pairs], config, measure)


def score(config: Config, splits: Splits, report: Report) -> float:
    """The mean over the splits; with several, the mean so far is reported after each, otherwise some epochs are."""
    scores: list[float] = []
    for number, parts in enumerate(splits.parts, start=1):
        single = len(splits.parts) == 1
        recorder = Quarters(splits.measure, report) if single else Silent()
        scores.append(number_in(fit(config, parts, Run(recorder)).metrics["dev"], splits.measure))
        if not single and number < len(splits.parts):
            report(float(np.mean(scores)), number)
    return float(np.mean(scores))


def number_in(metrics: Metrics | Scores, measure: str) -> float:
    return float(metrics[measure])  # type: ignore[literal-required]


class Quarters(Silent):
    """Reports the dev score after each quarter of a trial's epochs but the last.

    Quarters and not epochs, because trials with fewer epochs have lowered their learning rate further after the same epoch.
    Training in phases is not reported: scores of different phases cannot be compared.
    """

    def __init__(self, measure: str, report: Report) -> None:
        self.measure, self.report = measure, report
        self.epochs = self.reported = 0
        self.has_phases = False

    def enter(self, phase: str) -> None:
        self.has_phases = True

    def begin(self, epoch: int, epochs: int, steps: int) -> None:
        self.epochs = epochs

    def end(self, record: EpochRecord) -> None:
        quarter = QUARTERS * record["epoch"] // max(self.epochs, 1)
        if self.has_phases or not self.reported < quarter < QUARTERS:
            return
        self.reported = quarter
        self.report(number_in(record["dev"], self.measure), quarter)
