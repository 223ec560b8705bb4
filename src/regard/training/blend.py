"""A committee of attention models and a linear model, over mean word vectors or over letters.

The logits of both are first divided by temperatures that suit the texts held out, because attention models trained on few texts
are far too certain, and then averaged, with shares that suit the same texts; one more temperature calibrates the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Training
from regard.data.unit_texts import UnitTexts
from regard.models.flat import EMBEDDING, HEAD, HEAD_BIAS, State, Tables, tables
from regard.models.tasks import Task
from regard.run_metrics import Metrics
from regard.training.committee_engine import CommitteeData
from regard.training.divergence import checked_answers
from regard.training.linear_member import Companions, fit_companions, with_companions
from regard.training.linear_solver import Linear, loss_and_errors
from regard.training.metrics import measure
from regard.training.silence import SILENCE
from regard.training.sparse_engine import read_texts
from regard.training.spelling import Spelling
from regard.training.temperature import fit_temperature
from regard.training.thresholds import chooses_thresholds, with_thresholds
from regard.training.word_vectors import WordVectors

# Models of few texts give frequent classes too much: a quarter of the logarithm of a class's frequency is taken off its logit,
# less beyond this number of texts
PRIOR_SHARE, PRIOR_TEXTS = 0.25, 1000

Doubles = NDArray[np.float64]


class Mix(NamedTuple):
    """How the attention models and the linear model predict together."""

    shares: tuple[float, float]  # that their logits are multiplied by
    task: Task  # with the threshold that suits the texts held out, if one is to be chosen
    temperature: float | None  # None if no texts were held out, or no calibration was asked for
    dev: Metrics | None


class Blend(NamedTuple):
    lookup: Tables  # with the words that only the vector files have; the linear model is the last member
    mixture: Mix


class SpelledCommittee(NamedTuple):
    states: list[State]  # the linear model is the last member
    mixture: Mix


def blend(states: Sequence[State], scale: float, vectors: WordVectors, data: CommitteeData, options: Training) -> Blend:
    """`data.dev`, if there is one, was read with all words that have a vector."""
    members = [tables(state, scale) for state in states]
    data = with_companions(vectors, data)
    companions = fit_companions(vectors, data, options.seed)
    added = len(vectors.table) - vectors.trained
    extended = [with_silent_rows(member, vectors.trained, added) for member in members]
    texts = sum(member.source.size for member in data.members) / len(data.members)
    prior = PRIOR_SHARE * min(1.0, PRIOR_TEXTS / texts) * companions.priors
    read = None if companions.judged is None else attention_logits(members, extended, data)
    mixture = mixed(data.task, read, companions, prior, options)
    linear = linear_tables(companions.mean, vectors, len(extended[0].scores))
    lookup = joined(extended, linear, mixture.shares)
    return Blend(lookup._replace(bias=lookup.bias - prior.astype(np.float32)), mixture)


def with_spelling(
    states: Sequence[State], scale: float, spelling: Spelling, data: CommitteeData, options: Training
) -> SpelledCommittee:
    """The attention models, and a linear model over letters as one more of the same shape."""
    members = [tables(state, scale) for state in states]
    data = with_companions(spelling, data)
    companions = fit_companions(spelling, data, options.seed)
    read = None if companions.judged is None else attention_logits(members, members, data)
    mixture = mixed(data.task, read, companions, np.zeros(data.task.out_dim), options)
    linear = spelling.member(companions.mean, states[0][EMBEDDING].shape[1], scale)
    count = len(states) + 1  # the logits of a committee are the mean over its members
    factors = [mixture.shares[0] * count / len(states)] * len(states) + [mixture.shares[1] * count]
    every = [
        {**state, HEAD: state[HEAD] * np.float32(factor), HEAD_BIAS: state[HEAD_BIAS] * np.float32(factor)}
        for state, factor in zip([*states, linear], factors, strict=True)
    ]
    return SpelledCommittee(every, mixture)


def mixed(
    task: Task, read: tuple[Doubles, Doubles] | None, companions: Companions, prior: Doubles, options: Training
) -> Mix:
    """`read`: the logits of the attention models on the texts held out, and the labels of these."""
    factors, share, temperature, dev = (1.0, 1.0), float(np.mean(companions.shares)), None, None
    if read is not None and companions.logits is not None and companions.judged is not None:
        attended, labels = read
        factors = (fit_temperature(task, attended, labels), fit_temperature(task, companions.logits, labels))
        parts = (attended / factors[0], companions.logits / factors[1])
        share = choose_share(task, parts, companions, labels)
        logits = (1 - share) * parts[0] + share * parts[1]
        if options.calibrate:
            temperature = fit_temperature(task, logits, labels)
            logits /= temperature
        if chooses_thresholds(task, options.threshold):
            task = with_thresholds(task, options.threshold, task.answers(logits - prior), labels)
        dev = scored(task, logits - prior, labels)
    shares = ((1 - share) / factors[0] / (temperature or 1.0), share / factors[1] / (temperature or 1.0))
    return Mix(shares, task, temperature, dev)


def choose_share(task: Task, parts: tuple[Doubles, Doubles], companions: Companions, labels: Doubles) -> float:
    """The share of the linear model: the mean of those to choose from, weighted by the likelihood of the texts held out.

    So a few texts leave it near the middle, and many decide.
    """
    judged, shares, losses = companions.judged, np.array(companions.shares), []
    assert judged is not None
    for share in shares:
        logits = (1 - share) * parts[0] + share * parts[1]
        losses.append(loss_and_errors(judged, logits / fit_temperature(task, logits, labels))[0])
    # numbers: errors have the variance that the best share leaves
    scale = len(labels) / (2 * min(losses) if judged.loss == "squares" and min(losses) > 0 else 1)
    powers = np.exp(-scale * (np.array(losses) - min(losses)))
    return float(powers @ shares / powers.sum())


def attention_logits(
    members: Sequence[Tables], extended: Sequence[Tables], data: CommitteeData
) -> tuple[Doubles, Doubles]:
    """The logits of the attention models on dev (their mean), or of each on what it holds out, and the labels."""
    if data.dev is not None:
        every = [read_texts(member, data.dev)[0].astype(np.float64) for member in extended]
        return np.mean(every, axis=0), data.dev.labels.astype(np.float64)
    # members without a companion are left out
    rows = [(member, one.held) for member, one in zip(members, data.members, strict=False) if one.held is not None]
    logits = np.concatenate([read_texts(member, held)[0] for member, held in rows]).astype(np.float64)
    return logits, np.concatenate([held.labels for _, held in rows]).astype(np.float64)


def scored(task: Task, logits: Doubles, labels: Doubles) -> Metrics:
    return measure(task, checked_answers(task.answers(logits)), labels)


def score_on(lookup: Tables, task: Task, texts: UnitTexts) -> Metrics:
    return scored(task, read_texts(lookup, texts)[0].astype(np.float64), texts.labels.astype(np.float64))


def with_silent_rows(lookup: Tables, at: int, count: int) -> Tables:
    """With units before row `at` that the model ignores."""
    low = lookup.scores.min(0, keepdims=True) - np.float32(SILENCE)
    scores = np.concatenate((lookup.scores[:at], np.repeat(low, count, 0), lookup.scores[at:]))
    nothing = np.zeros((count, *lookup.polarity.shape[1:]), dtype=np.float32)
    return Tables(scores, np.concatenate((lookup.polarity[:at], nothing, lookup.polarity[at:])), lookup.bias)


def linear_tables(linear: Linear, vectors: WordVectors, units: int) -> Tables:
    """The linear model as attention: equal scores for words with a vector, no weight for any other unit."""
    scores = np.full((units, 1), -SILENCE, dtype=np.float32)
    polarity = np.zeros((units, 1, len(linear.bias)), dtype=np.float32)
    rows = np.flatnonzero(vectors.has_vector)
    scores[rows] = 0
    polarity[rows, 0] = vectors.table[rows] @ linear.weights.T.astype(np.float32)
    return Tables(scores, polarity, linear.bias.astype(np.float32))


def joined(attention: Sequence[Tables], linear: Tables, shares: Sequence[float]) -> Tables:
    """One committee: the attention models share shares[0] equally, the linear model has shares[1]."""
    of_each = [shares[0] / len(attention)] * len(attention) + [shares[1]]
    members = [*attention, linear]
    polarity = [member.polarity * np.float32(share) for member, share in zip(members, of_each, strict=True)]
    bias = np.sum([member.bias * np.float32(share) for member, share in zip(members, of_each, strict=True)], axis=0)
    return Tables(
        np.concatenate([member.scores for member in members], 1), np.concatenate(polarity, 1), bias.astype(np.float32)
    )
