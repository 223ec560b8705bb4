"""Polarity s = hᵀW, attention score a and mean attention weight of each token (Sun & Lu).

In a flat model (DP, DP-A, AD) both scores depend only on the token. With an encoder that reads context there are two of
each (supplement, G.1): *global*, of the token fed alone, and *local*, the mean over all its occurrences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Model
from regard.data.tokenizer import Indexed
from regard.data.unit_texts import UnitTexts
from regard.errors import InputError
from regard.models.tasks import Classes, MultiLabel
from regard.models.trained import Trained, outputs


class TokenScores(NamedTuple):
    """NaN for tokens that do not occur."""

    polarity: NDArray[np.float64]  # (U, C)
    attention: NDArray[np.float64]  # (U,)
    weight: NDArray[np.float64]  # (U,) the mean of its weights


def check_scores(model: Model) -> None:
    """Reject models without an attention score and a polarity for each token."""
    if model.levels > 1:
        raise InputError(f"levels: expected a model with one level of attention, got {model.levels}")
    if model.pooling != "attention":
        raise InputError(
            f"pooling: expected 'attention', got {model.pooling!r}, whose words have no attention score or no polarity"
        )
    if model.head_hidden:
        raise InputError("head_hidden: expected a head without a hidden layer, because words need a polarity, got True")


def check_classes(trained: Trained) -> Classes:
    if isinstance(trained.task, MultiLabel):
        raise InputError(
            "task: expected one class per text, because token types need classes, got several labels; "
            "`regard analyse` analyses the words of one label: --target LABEL"
        )
    if not isinstance(trained.task, Classes):
        raise InputError(f"task: expected a classifier, because token types need classes, got {trained.task.kind!r}")
    return trained.task


def token_scores(trained: Trained, texts: UnitTexts) -> TokenScores:
    """The scores of a flat model, with mean weights over these texts; of a committee, the means over its members."""
    tables = trained.tables
    weights = [mean_weights(scores, texts) for scores in tables.scores.T]
    polarity, scores = tables.polarity.astype(np.float64).sum(1), tables.scores.astype(np.float64).mean(1)
    return TokenScores(polarity, scores, np.mean(weights, axis=0))


def mean_weights(scores: NDArray[np.floating], texts: UnitTexts) -> NDArray[np.float64]:
    """The mean of α over the occurrences of each token of a flat model: (U,)"""
    lengths = np.diff(texts.offsets)
    filled = lengths > 0
    starts = texts.offsets[:-1][filled]
    weights = scores[texts.ids].astype(np.float64)
    if len(weights):
        weights = np.exp(weights - np.repeat(np.maximum.reduceat(weights, starts), lengths[filled]))
        weights /= np.repeat(np.add.reduceat(weights * texts.counts, starts), lengths[filled])
    counts = np.bincount(texts.ids, texts.counts, minlength=len(scores))
    total = np.bincount(texts.ids, weights * texts.counts, minlength=len(scores))
    with np.errstate(invalid="ignore"):  # 0 / 0: does not occur
        return np.asarray(total / counts)


def global_scores(trained: Trained) -> TokenScores:
    """Scores of each token as a text of one word; its weight there is 1."""
    units = len(trained.tokenizer)
    alone = [Indexed(np.array([unit], dtype=np.int32)) for unit in range(units)]
    return local_scores(trained, alone)


def local_scores(trained: Trained, texts: Sequence[Indexed]) -> TokenScores:
    """Means over all occurrences of a token."""
    model = trained.model
    units, classes = len(trained.tokenizer), trained.task.out_dim
    head = model.head.weight.detach()
    counts, attention, weight = (np.zeros(units) for _ in range(3))
    polarity = np.zeros((units, classes))
    for _, batch, output in outputs(model, texts):
        trace = output.traces[0]
        ids = batch.ids[batch.mask].cpu().numpy()
        logits = (trace.states[batch.mask] @ head.T.to(trace.states.dtype)).double().cpu().numpy()  # (words, C)
        counts += np.bincount(ids, minlength=units)
        attention += np.bincount(ids, trace.pooled.scores[batch.mask].double().cpu().numpy(), minlength=units)
        weight += np.bincount(ids, trace.pooled.weights[batch.mask].double().cpu().numpy(), minlength=units)
        for k in range(classes):
            polarity[:, k] += np.bincount(ids, logits[:, k], minlength=units)
    with np.errstate(invalid="ignore"):  # 0 / 0: does not occur
        return TokenScores(polarity / counts[:, None], attention / counts, weight / counts)


def lead(polarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """One number per token: s for two classes; for more, the polarity of its strongest class minus the mean of the others."""
    classes = polarity.shape[1]
    if classes == 1:
        return polarity[:, 0]
    largest = polarity.max(1)
    return np.asarray(largest - (polarity.sum(1) - largest) / (classes - 1))


def support_for(polarity: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """How much tokens support class k: s or −s for two classes; for more, its polarity minus the mean of the others."""
    classes = polarity.shape[1]
    if classes == 1:
        return polarity[:, 0] if k == 1 else -polarity[:, 0]
    column = polarity[:, k]
    return np.asarray(column - (polarity.sum(1) - column) / (classes - 1))


def of_type(values: NDArray[np.float64], code: int) -> NDArray[np.float64]:
    """(tokens, C) -> (tokens,): the values for the class of a type; for neutral tokens, those for the strongest class."""
    outputs = values.shape[1]
    return values[:, 0] if outputs == 1 else values[:, code] if code < outputs else values.max(1)
