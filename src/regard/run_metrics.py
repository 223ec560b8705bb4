"""The contents of metrics.json, as types: the metrics of an evaluation, the record of an epoch, and the whole file.

They are dicts whose keys are in the order in which they were set, which is the order in the file.
"""

from __future__ import annotations

from typing import Required, TypedDict

Scores = dict[str, float]  # metrics that are single numbers


class ClassMetrics(TypedDict, total=False):
    precision: Required[float]
    recall: Required[float]
    f: Required[float]
    n: Required[int]  # texts with this label
    threshold: float  # of a multi-label task: the probability from which the label is predicted
    f_interval: list[float]


class ConfusionCounts(TypedDict):
    labels: list[str]
    counts: list[list[int]]  # rows: actual, columns: predicted


class Metrics(TypedDict, total=False):
    """Of one evaluation. An interval is [low, high] at 95 %."""

    task: str
    n: int  # texts
    # classification
    accuracy: float
    accuracy_interval: list[float]
    macro_f: float
    macro_f_interval: list[float]
    log_loss: float
    log_loss_interval: list[float]
    per_class: dict[str, ClassMetrics]
    confusion: ConfusionCounts
    always_the_most_frequent_class: float  # the accuracy of this rule
    # several labels per text; log_loss is then the mean over texts and labels
    micro_f1: float
    micro_f1_interval: list[float]
    macro_f1: float
    macro_f1_interval: list[float]
    subset_accuracy: float  # texts whose labels are all right
    subset_accuracy_interval: list[float]
    map: float  # mean average precision
    map_interval: list[float]
    # regression
    rmse: float
    rmse_interval: list[float]
    mae: float
    mae_interval: list[float]
    r2: float
    r2_interval: list[float]
    rmse_of_mean: float  # of always predicting the training mean


class SpreadRecord(TypedDict, total=False):
    mean: Required[float]
    std: Required[float]
    min: Required[float]
    max: Required[float]
    length: float  # norms of words: the correlation of log norm and log length over texts


class PhaseRecord(TypedDict, total=False):
    """Which phase an epoch belongs to; empty for ordinary training, which has only one."""

    round: int
    phase: str


class EvaluationRecord(TypedDict, total=False):
    """What the evaluation after an epoch measures. Levels are "words", "sentences" and "parts"."""

    terms: Scores  # means of penalties
    heads: dict[str, Scores]  # scores of heads other than the label's
    scores: dict[str, SpreadRecord]  # attention scores, by level
    norms: dict[str, SpreadRecord]  # learned norms p, by level
    dev: Scores  # of the label's head on dev texts
    train: Scores  # on training texts, if there are no dev texts


class EpochRecord(PhaseRecord, EvaluationRecord):
    """One epoch of a run's history."""

    epoch: int  # counted over all phases, from 1
    loss: float
    seconds: float


class CrossValidation(TypedDict):
    """Scores of models that were each trained without one fold of the training texts, on that fold."""

    folds: int
    seed: int
    texts: list[int]  # of each fold
    scores: list[Scores]  # of each fold
    mean: Scores
    interval: dict[str, list[float]]  # [low, high] of the mean, at 95 %


class Ancestor(TypedDict):
    """A run that training continued from."""

    fingerprint: str
    texts: int  # that it learned from


class BeforeAfter(TypedDict):
    """The accuracy of classes, or the RMSE of numbers, before and after training continued, on texts that were held out."""

    texts: int
    measure: str
    before: float
    after: float


class Continued(TypedDict):
    """How a run continued another."""

    origin: str  # the name of the other run
    ancestors: list[Ancestor]  # oldest first
    replayed: int  # old texts among those that it learned from
    new_units: int
    new_classes: list[str]
    scores: dict[str, BeforeAfter]  # on "new" or "dev" texts, and on "old" ones


class RunMetrics(TypedDict, total=False):
    """The whole file."""

    task: str
    texts: int
    epochs: int
    best_epoch: int
    best_round: int
    seconds: float
    fingerprint: str
    history: list[EpochRecord]
    engine: str
    environment: dict[str, str]  # versions and devices
    stacked: int  # models trained side by side
    temperature: float  # that the output layer was divided by
    dev: Metrics
    test: Metrics
    cv: CrossValidation
    continued: Continued
    label_type: str  # name of the Python type of the labels passed to `fit`
    label_form: str  # of several labels per text passed to `fit`: "matrix" or "lists"
    plausibility: Scores
