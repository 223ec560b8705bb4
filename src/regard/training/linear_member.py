"""A linear model over mean word vectors as one more member of a committee.

The mean vector of a text, read by a linear layer, is a flat attention model whose attention is uniform: all words with a vector
have the same score, and all other units (pairs, beginnings, words without a vector) one so low that they have no weight. So the
committee stays a committee, and everything that is promised about explanations and exports holds for it unchanged.

Every attention model has a companion: a linear model that learns from the same texts. On the texts that both hold out they show
how the blend will do, and on what scale their logits are. Linear models over the same vectors average to a linear model, so the
companions end as one member. Words of the vector files that training never saw have a vector too, and become known.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.data.unit_texts import UnitTexts
from regard.models.tasks import Binary, Classes, MultiLabel, Task
from regard.training.committee_engine import CommitteeData
from regard.training.linear_solver import Linear, Problem, fit_linear, mean_loss
from regard.training.span_solver import fit_in_span
from regard.training.sparse_engine import threads
from regard.training.unit_indexing import TextSource, joined

MOST_TEXTS = 50_000  # that a companion learns from: more change little about a few hundred weights
ENOUGH = 200  # texts that are held out to choose the penalty by: as many companions as have these together take part

Doubles = NDArray[np.float64]


class TextFeatures(Protocol):
    """What a linear member reads of a text."""

    @property
    def shares(self) -> Sequence[float]:
        """That the linear model may have in the mean of the logits."""

    @property
    def strengths(self) -> Sequence[float]:
        """C of the penalty: the values to choose from."""

    @property
    def usual_strength(self) -> float:
        """If no texts are held out."""

    @property
    def judges(self) -> int:
        """If the first companions hold out this many texts together, no more of them are trained."""

    def features(self, texts: UnitTexts, extended: bool = False) -> Any:
        """(texts, D): an array, or what is multiplied like one"""


class Companions(NamedTuple):
    """Linear models on the texts of each member, and their logits on texts that they did not learn from."""

    models: list[Linear]
    shares: Sequence[float]  # that the blend chooses from
    strength: float
    judged: Problem | None  # dev, or what each member holds out, one after the other
    logits: Doubles | None  # (texts, C) of these texts
    priors: Doubles  # (C,) logits of the frequencies of the classes; zeros for numbers, and where texts have weights

    @property
    def mean(self) -> Linear:
        weights, biases = zip(*self.models, strict=True)
        return Linear(np.mean(weights, axis=0), np.mean(biases, axis=0))


def with_companions(read: TextFeatures, data: CommitteeData) -> CommitteeData:
    """The members that have a companion. With dev, all learn from the same texts."""
    held = np.cumsum([0 if one.held is None else len(one.held.labels) for one in data.members])
    return data._replace(members=data.members[: 1 if data.dev is not None else int((held < read.judges).sum()) + 1])


def fit_companions(read: TextFeatures, data: CommitteeData, seed: int) -> Companions:
    """`data.dev`, if there is one, was read with all words that have a vector."""
    problems = [make_problem(read, data.task, learned_texts(member.source, seed)) for member in data.members]
    if data.dev is not None:
        judged = [make_problem(read, data.task, data.dev, extended=True)] * len(problems)
    else:
        judged = [make_problem(read, data.task, one.held) for one in data.members if one.held is not None]
    priors = prior_logits(problems)
    if len(judged) < len(problems):  # nothing is held out
        models = fit_all(problems, read.usual_strength)
        return Companions(models, read.shares, read.usual_strength, None, None, priors)
    sizes = np.cumsum([len(one.targets) for one in judged])
    some = 1 if data.dev is not None else min(int((sizes < ENOUGH).sum()) + 1, len(judged))
    chosen, models = choose_strength(read.strengths, problems[:some], judged[:some])
    models += fit_all(problems[len(models) :], chosen, [models[0]] * (len(problems) - len(models)))
    if data.dev is not None:
        logits, judged = np.mean([model.logits(judged[0].features) for model in models], axis=0), judged[:1]
    else:
        logits = np.concatenate([model.logits(one.features) for model, one in zip(models, judged, strict=True)])
    targets = np.concatenate([one.targets for one in judged])
    return Companions(
        models, read.shares, chosen, Problem(np.empty((len(targets), 0)), targets, judged[0].loss), logits, priors
    )


def prior_logits(problems: Sequence[Problem]) -> Doubles:
    """Weights of texts say that the frequencies of the classes are not what matters."""
    targets = np.concatenate([problem.targets for problem in problems])
    outputs = targets.shape[1]
    if problems[0].loss == "squares" or problems[0].weights is not None:
        return np.zeros(outputs)
    shares = np.clip(targets.mean(0), 1e-6, 1 - 1e-6)
    priors: Doubles = np.log(shares) if problems[0].loss == "softmax" else np.log(shares / (1 - shares))
    return priors


def choose_strength(
    strengths: Sequence[float], problems: Sequence[Problem], judged: Sequence[Problem]
) -> tuple[float, list[Linear]]:
    """The strength with the lowest loss on the texts held out, and the models that were trained with it."""
    best, lowest, chosen = strengths[0], np.inf, []
    starts: Sequence[Linear | None] = [None] * len(problems)
    for strength in strengths:
        models = fit_all(problems, strength, starts)
        losses = [mean_loss(one, model) * len(one.targets) for one, model in zip(judged, models, strict=True)]
        if sum(losses) < lowest:
            best, lowest, chosen = strength, sum(losses), models
        elif sum(losses) > 1.05 * lowest:  # weaker penalties overfit even more
            break
        starts = models
    return best, chosen


def fit_all(problems: Sequence[Problem], strength: float, starts: Sequence[Linear | None] = ()) -> list[Linear]:
    """Each by one thread."""

    def fit_one(problem: Problem, start: Linear | None) -> Linear:
        if isinstance(problem.features, np.ndarray):
            return fit_linear(problem, strength, start)
        return fit_in_span(problem, problem.features, strength)

    with ThreadPoolExecutor(threads()) as pool:
        return list(pool.map(fit_one, problems, starts or [None] * len(problems)))


def learned_texts(source: TextSource, seed: int) -> UnitTexts:
    """The texts that a member learns from, or some of them if there are very many."""
    rng = np.random.default_rng((seed, 15485863))
    parts, left = [], MOST_TEXTS
    for texts, rows in source.blocks(rng):
        chosen = np.sort(rng.permutation(rows)[:left]) if len(rows) > left else rows
        parts.append(some_texts(texts, chosen))
        left -= len(chosen)
        if left <= 0:
            break
    return joined_texts(parts)


def some_texts(texts: UnitTexts, rows: NDArray[np.int64]) -> UnitTexts:
    is_chosen = np.zeros(len(texts.labels), dtype=bool)
    is_chosen[rows] = True
    lengths = np.diff(texts.offsets)
    units = np.repeat(is_chosen, lengths)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths[is_chosen])])
    weights = None if texts.weights is None else texts.weights[is_chosen]
    return UnitTexts(texts.ids[units], texts.counts[units], offsets, texts.labels[is_chosen], weights)


def joined_texts(parts: Sequence[UnitTexts]) -> UnitTexts:
    if len(parts) == 1:
        return parts[0]
    weights = [part.weights for part in parts if part.weights is not None]
    return joined(
        [(part.ids, part.counts, part.offsets) for part in parts],
        np.concatenate([part.labels for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def make_problem(read: TextFeatures, task: Task, texts: UnitTexts, extended: bool = False) -> Problem:
    features, labels = read.features(texts, extended), texts.labels.astype(np.float64)
    weights = None if texts.weights is None else texts.weights.astype(np.float64)
    if isinstance(task, MultiLabel):
        return Problem(features, labels, "sigmoid", weights)
    if not isinstance(task, Classes):
        return Problem(features, labels[:, None], "squares", weights)
    if isinstance(task, Binary):
        return Problem(features, labels[:, None], "sigmoid", weights)
    return Problem(features, np.eye(task.out_dim)[labels.astype(np.int64)], "softmax", weights)
