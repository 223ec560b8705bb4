"""What each token says and how much it counts: polarity s = hᵀW, attention score a, and its mean attention weight (Sun & Lu).

Of a flat model (DP, DP-A, AD) both scores belong to the token whatever the text. With an encoder that reads contexts there
are two of each (supplement, G.1): *global*, the token fed alone, and *local*, the mean over all places where it stands.
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
from regard.models.tasks import Classes
from regard.models.trained import Trained, outputs


class TokenScores(NamedTuple):
    """NaN where a token was never seen."""

    polarity: NDArray[np.float64]  # (U, C)
    attention: NDArray[np.float64]  # (U,)
    weight: NDArray[np.float64]  # (U,) the mean of its weights


def check_scores(model: Model) -> None:
    """Refuse what has no attention score for each token of a text."""
    if model.levels > 1:
        raise InputError(f"levels = {model.levels}: a model with one level of attention is accepted")
    if model.pooling != "attention":
        raise InputError(
            f"pooling = {model.pooling!r}: its words have no attention score or no polarity; 'attention' is accepted"
        )
    if model.head_hidden:
        raise InputError("head_hidden = True: words have no polarity score; a head without a hidden layer is accepted")


def check_classes(trained: Trained) -> Classes:
    if not isinstance(trained.task, Classes):
        raise InputError(f"task = {trained.task.kind!r}: token types need classes; a classifier's run is accepted")
    return trained.task


def token_scores(trained: Trained, texts: UnitTexts) -> TokenScores:
    """Of a flat model, with mean weights over these texts."""
    made = trained.tables
    return TokenScores(
        made.polarity.astype(np.float64), made.scores.astype(np.float64), mean_weights(made.scores, texts)
    )


def mean_weights(scores: NDArray[np.floating], texts: UnitTexts) -> NDArray[np.float64]:
    """The mean of α over the places of each token, where scores belong to tokens: (U,)"""
    lengths = np.diff(texts.offsets)
    filled = lengths > 0
    starts = texts.offsets[:-1][filled]
    own = scores[texts.ids].astype(np.float64)
    if len(own):
        own = np.exp(own - np.repeat(np.maximum.reduceat(own, starts), lengths[filled]))
        own /= np.repeat(np.add.reduceat(own * texts.counts, starts), lengths[filled])
    places = np.bincount(texts.ids, texts.counts, minlength=len(scores))
    total = np.bincount(texts.ids, own * texts.counts, minlength=len(scores))
    with np.errstate(invalid="ignore"):  # 0 / 0: never seen
        return np.asarray(total / places)


def global_scores(trained: Trained) -> TokenScores:
    """Each token as a text of its own; its weight there is 1."""
    units = len(trained.tokenizer)
    alone = [Indexed(np.array([unit], dtype=np.int32)) for unit in range(units)]
    return local_scores(trained, alone)


def local_scores(trained: Trained, texts: Sequence[Indexed]) -> TokenScores:
    """Means over all places where a token stands."""
    model = trained.model
    units, classes = len(trained.tokenizer), trained.task.out_dim
    head = model.head.weight.detach()
    places, attention, weight = (np.zeros(units) for _ in range(3))
    polarity = np.zeros((units, classes))
    for _, batch, output in outputs(model, texts):
        trace = output.traces[0]
        ids = batch.ids[batch.mask].cpu().numpy()
        said = (trace.states[batch.mask] @ head.T.to(trace.states.dtype)).double().cpu().numpy()  # (places, C)
        places += np.bincount(ids, minlength=units)
        attention += np.bincount(ids, trace.pooled.scores[batch.mask].double().cpu().numpy(), minlength=units)
        weight += np.bincount(ids, trace.pooled.weights[batch.mask].double().cpu().numpy(), minlength=units)
        for k in range(classes):
            polarity[:, k] += np.bincount(ids, said[:, k], minlength=units)
    with np.errstate(invalid="ignore"):  # 0 / 0: never seen
        return TokenScores(polarity / places[:, None], attention / places, weight / places)


def lead(polarity: NDArray[np.float64]) -> NDArray[np.float64]:
    """One number a token: s of two classes; of more, its strongest class's polarity less the mean of the others'."""
    classes = polarity.shape[1]
    if classes == 1:
        return polarity[:, 0]
    largest = polarity.max(1)
    return np.asarray(largest - (polarity.sum(1) - largest) / (classes - 1))


def said_for(polarity: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """What tokens say for class k: s of two classes, or −s; of more, its polarity less the mean of the others'."""
    classes = polarity.shape[1]
    if classes == 1:
        return polarity[:, 0] if k == 1 else -polarity[:, 0]
    own = polarity[:, k]
    return np.asarray(own - (polarity.sum(1) - own) / (classes - 1))


def of_type(values: NDArray[np.float64], code: int) -> NDArray[np.float64]:
    """(tokens, C) -> (tokens,): what is said for the class of a type; of neutral tokens, for the strongest class."""
    outputs = values.shape[1]
    return values[:, 0] if outputs == 1 else values[:, code] if code < outputs else values.max(1)
