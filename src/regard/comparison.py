"""Compare models on the same labelled texts.

Differences are paired: every bootstrap draw takes the same texts for all runs, so what makes a text hard for all of them cancels
out. Accuracies are also compared by McNemar's exact test; with more than two runs its p is corrected by Holm for the number of
runs that are compared with the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.data.labels import Labels
from regard.data.readers import Corpus
from regard.errors import InputError, quoted
from regard.facts.comparison import (
    Agreement,
    ClassComparison,
    ComparedRun,
    ComparisonFacts,
    DisputedText,
    McNemar,
    RunAnswer,
    RunDifference,
)
from regard.facts.intervals import Interval
from regard.faithfulness.intervals import holm
from regard.mcnemar import mcnemar_p
from regard.models.model import Model
from regard.models.tasks import Classes, MultiLabel, Task, encoded
from regard.training.bootstrap import MIN_TEXTS, draws_for

Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]
DISPUTED = 30  # texts that are listed
HELD = 2**22  # numbers held in memory at a time
SMALLEST = 1e-15  # probabilities count as at least this, as in the log loss of an evaluation


class Answered(NamedTuple):
    """What a run answers: probabilities (texts, classes) in the order of the first run's classes, or numbers (texts, 1)."""

    name: str
    model: str
    answers: Doubles
    chosen: Integers  # the predicted classes; all 0 for numbers


def compare(models: Mapping[str, Model], corpus: Corpus, limit: int = DISPUTED) -> ComparisonFacts:
    """`models` by name; the first is the one that the others are compared with."""
    task = check_tasks({name: model.task for name, model in models.items()})
    labels = encoded(task, Labels.of(corpus.examples), corpus.path, corpus.label_column)
    texts = [example.text for example in corpus.examples]
    runs = [answered(name, model, task, texts) for name, model in models.items()]
    if isinstance(task, Classes):
        return compare_classes(task, runs, labels.astype(np.int64), corpus, limit)
    row = task.as_dict()
    return compare_numbers(runs, labels * row["scale"] + row["mean"], corpus, limit)


def check_tasks(tasks: Mapping[str, Task]) -> Task:
    """The task of the first; an error if another has a different one. The order of classes does not matter."""
    (first_name, first), *others = tasks.items()
    for name, task in tasks.items():
        if isinstance(task, MultiLabel):
            raise InputError(
                f"{name}: expected one class or number per text, got several labels, which cannot be compared yet; "
                "`regard evaluate` measures each run"
            )
    for name, task in others:
        if isinstance(first, Classes) != isinstance(task, Classes):
            raise InputError(
                f"{name}: expected {kind(first)}, as {first_name} answers, got {kind(task)}; compare runs of the same task"
            )
        if isinstance(first, Classes) and isinstance(task, Classes) and set(first.classes) != set(task.classes):
            extra = set(first.classes) ^ set(task.classes)
            raise InputError(
                f"{name}: expected the classes of {first_name}, got others: only one of the two has "
                f"{quoted(sorted(extra), most=5)}; compare runs with the same classes"
            )
    return first


def kind(task: Task) -> str:
    return "classes" if isinstance(task, Classes) else "numbers"


def answered(name: str, model: Model, task: Task, texts: Sequence[str]) -> Answered:
    answers = model.answers(texts)
    if not isinstance(task, Classes) or not isinstance(model.task, Classes):
        return Answered(name, model.title, answers, np.zeros(len(answers), dtype=np.int64))
    order = [model.task.classes.index(one) for one in task.classes]
    return Answered(name, model.title, answers[:, order], np.argsort(order)[model.task.chosen(answers)])


def compare_classes(
    task: Classes, runs: Sequence[Answered], labels: Integers, corpus: Corpus, limit: int
) -> ComparisonFacts:
    names = ("accuracy", "macro_f", "log_loss")
    matrix = [one_hot(run.chosen, len(task.classes)) for run in runs]
    actual = one_hot(labels, len(task.classes))
    # per text and run: right, then the negative log likelihood
    right = np.stack([run.chosen == labels for run in runs], axis=1)
    likelihood = np.stack([run.answers[np.arange(len(labels)), labels] for run in runs], axis=1)
    losses = -np.log(likelihood.clip(SMALLEST, 1))

    def scores(weights: Doubles) -> Doubles:  # (draws, texts) -> (measures, draws, runs)
        size = weights.sum(1, keepdims=True)
        f = [macro_f(class_f(weights, actual, predicted)) for predicted in matrix]
        return np.stack((weights @ right / size, np.stack(f, axis=1), weights @ losses / size))

    all_texts = np.ones((1, len(labels)))
    whole, drawn = scores(all_texts)[:, 0], draw(scores, len(labels))
    tests = [mcnemar(right[:, 0], right[:, run]) for run in range(1, len(runs))]
    corrected = holm([p for _, _, p in tests])
    differences = [
        RunDifference(run, differences_of(names, whole, drawn, run, len(labels)), McNemar(*test, each))
        for run, (test, each) in enumerate(zip(tests, corrected, strict=True), start=1)
    ]
    f = np.stack([class_f(all_texts, actual, predicted)[0] for predicted in matrix], axis=1)  # (classes, runs)
    apart, disputed = disputed_classes(task, runs, labels, corpus, limit)
    return ComparisonFacts(
        corpus.path,
        task.kind,
        len(labels),
        compared_runs(runs, names, whole),
        tuple(differences),
        tuple(class_agreement(np.stack([run.chosen for run in runs], axis=1))),
        tuple(class_rows(task.classes, right, labels, f)),
        apart,
        disputed,
        cautions(len(labels)),
    )


def class_rows(
    names: Sequence[str], right: NDArray[np.bool_], labels: Integers, f: Doubles
) -> Iterator[ClassComparison]:
    """`right` is (texts, runs), `f` (classes, runs)."""
    for k, name in enumerate(names):
        counts = right[labels == k].sum(0).tolist()
        yield ClassComparison(name, int((labels == k).sum()), tuple(counts), tuple(np.nan_to_num(f[k]).tolist()))


def disputed_classes(
    task: Classes, runs: Sequence[Answered], labels: Integers, corpus: Corpus, limit: int
) -> tuple[int, tuple[DisputedText, ...]]:
    """How many texts not all runs answer alike, and some of them, those with the most confident answer first."""
    chosen = np.stack([run.chosen for run in runs], axis=1)  # (texts, runs)
    sure = np.stack([run.answers.max(1) for run in runs], axis=1)
    apart = np.flatnonzero((chosen != chosen[:, :1]).any(1))
    order = apart[np.argsort(-sure[apart].max(1), kind="stable")][:limit].tolist()
    listed = []
    for row in order:
        answers = [RunAnswer(task.classes[k], float(p)) for k, p in zip(chosen[row], sure[row], strict=True)]
        listed.append(disputed_text(corpus, row, task.classes[labels[row]], answers))
    return len(apart), tuple(listed)


def compare_numbers(runs: Sequence[Answered], labels: Doubles, corpus: Corpus, limit: int) -> ComparisonFacts:
    names = ("rmse", "mae")
    answers = np.concatenate([run.answers for run in runs], axis=1)  # (texts, runs)
    errors = answers - labels[:, None]

    def scores(weights: Doubles) -> Doubles:
        size = weights.sum(1, keepdims=True)
        return np.stack((np.sqrt(weights @ errors**2 / size), weights @ np.abs(errors) / size))

    whole, drawn = scores(np.ones((1, len(labels))))[:, 0], draw(scores, len(labels))
    differences = [
        RunDifference(run, differences_of(names, whole, drawn, run, len(labels))) for run in range(1, len(runs))
    ]
    apart = answers.max(1) - answers.min(1)
    order = np.argsort(-apart, kind="stable")[:limit]
    disputed = [
        disputed_text(corpus, int(row), float(labels[row]), [RunAnswer(float(one)) for one in answers[row]])
        for row in order
        if apart[row] > 0
    ]
    return ComparisonFacts(
        corpus.path,
        "regression",
        len(labels),
        compared_runs(runs, names, whole),
        tuple(differences),
        tuple(number_agreement(answers)),
        (),
        int((apart > 0).sum()),
        tuple(disputed),
        cautions(len(labels)),
    )


def one_hot(codes: Integers, classes: int) -> Doubles:
    return np.asarray(np.eye(classes)[codes])


def class_f(weights: Doubles, actual: Doubles, predicted: Doubles) -> Doubles:
    """F1 of every class, (draws, classes), NaN for one that is neither a label nor an answer."""
    total = weights @ (actual + predicted)
    return np.where(total > 0, 2 * (weights @ (actual * predicted)) / np.maximum(total, 1), np.nan)


def macro_f(f: Doubles) -> Doubles:
    known = ~np.isnan(f)
    return np.asarray(np.where(known, f, 0.0).sum(1) / known.sum(1))


class Scores(Protocol):
    def __call__(self, weights: Doubles) -> Doubles:
        """(draws, texts) -> (measures, draws, runs), where `weights` says how often each text was drawn."""


def draw(scores: Scores, texts: int) -> Doubles | None:
    """The scores of bootstrap samples of the texts, with a fixed seed; None for too few texts."""
    if texts < MIN_TEXTS:
        return None
    rng = np.random.default_rng(0)
    draws = draws_for(texts)
    at_once = max(1, HELD // texts)
    parts = []
    for start in range(0, draws, at_once):
        count = min(at_once, draws - start)
        rows = rng.integers(texts, size=(count, texts)) + texts * np.arange(count)[:, None]
        weights = np.bincount(rows.ravel(), minlength=count * texts).reshape(count, texts)
        parts.append(scores(weights.astype(np.float64)))
    return np.concatenate(parts, axis=1)


def differences_of(
    names: Sequence[str], whole: Doubles, drawn: Doubles | None, run: int, texts: int
) -> dict[str, Interval]:
    """The run minus the first, by measure. `whole` is (measures, runs), `drawn` (measures, draws, runs)."""
    found = {}
    for place, name in enumerate(names):
        low = high = None
        if drawn is not None:
            gaps = drawn[place, :, run] - drawn[place, :, 0]
            low, high = (float(end) for end in np.quantile(gaps, (0.025, 0.975)))
        found[name] = Interval(texts, float(whole[place, run] - whole[place, 0]), low, high)
    return found


def mcnemar(first: NDArray[np.bool_], other: NDArray[np.bool_]) -> tuple[int, int, float]:
    won, lost = int((other & ~first).sum()), int((first & ~other).sum())
    return won, lost, mcnemar_p(won, lost)


def class_agreement(chosen: Integers) -> Iterator[Agreement]:
    """Of every pair of runs; `chosen` is (texts, runs)."""
    classes = int(chosen.max()) + 1
    for one, other in combinations(range(chosen.shape[1]), 2):
        equal = float((chosen[:, one] == chosen[:, other]).mean())
        shares = [np.bincount(chosen[:, run], minlength=classes) / len(chosen) for run in (one, other)]
        by_chance = float(shares[0] @ shares[1])
        yield Agreement(one, other, equal, None if by_chance == 1 else (equal - by_chance) / (1 - by_chance))


def number_agreement(answers: Doubles) -> Iterator[Agreement]:
    for one, other in combinations(range(answers.shape[1]), 2):
        pair = answers[:, [one, other]]
        varies = len(pair) > 1 and bool((pair.std(0) > 0).all())
        yield Agreement(one, other, correlation=correlation(pair[:, 0], pair[:, 1]) if varies else None)


def correlation(one: Doubles, other: Doubles) -> float:
    one, other = one - one.mean(), other - other.mean()
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def compared_runs(runs: Sequence[Answered], names: Sequence[str], whole: Doubles) -> tuple[ComparedRun, ...]:
    return tuple(
        ComparedRun(run.name, run.model, {name: float(whole[k, place]) for k, name in enumerate(names)})
        for place, run in enumerate(runs)
    )


def disputed_text(corpus: Corpus, row: int, label: str | float, answers: Sequence[RunAnswer]) -> DisputedText:
    example = corpus.examples[row]
    return DisputedText(example.row, example.text, label, tuple(answers))


def cautions(texts: int) -> tuple[str, ...]:
    if texts >= MIN_TEXTS:
        return ()
    return (f"with {texts} text{'s' * (texts != 1)} there are no intervals; at least {MIN_TEXTS} are needed",)
