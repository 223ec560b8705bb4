"""The weights of a flat attention model by the names that its Classifier gives them, without PyTorch.

Embeddings, perhaps an affine layer (DP-A), dot or additive scores, a linear head: Sun & Lu's models. Each word's state,
attention score and polarity are functions of the word alone, so they can be had as tables.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Model

State = dict[str, NDArray[np.float32]]

EMBEDDING = "embedding.weight"
AFFINE = "levels.0.encoder.map.weight"
PROJECT, PROJECT_BIAS = "levels.0.pooling.scorer.project.weight", "levels.0.pooling.scorer.project.bias"
QUERY = "levels.0.pooling.scorer.query"
HEAD, HEAD_BIAS = "head.weight", "head.bias"
CHUNK = 1 << 14  # rows a table is made of at a time


def is_flat(model: Model) -> bool:
    """Whether a model is of this form."""
    plain = model.encoder in ("embedding", "affine") and model.pooling == "attention"
    return plain and model.levels == 1 and not model.head_hidden


def fresh(model: Model, units: int, outputs: int, seed: int, vectors: NDArray[np.float32] | None = None) -> State:
    """Weights to start from, drawn as `models/build` draws them. NaN in vectors: a unit that has none."""
    chance = np.random.default_rng((seed, 104729))

    def drawn(bound: float, *shape: int) -> NDArray[np.float32]:
        return ((chance.random(shape, dtype=np.float32) * 2 - 1) * np.float32(bound)).astype(np.float32)

    model = model.filled()
    width = model.embedding if vectors is None else vectors.shape[1]
    state = {EMBEDDING: drawn(model.embedding_range, units, width)}
    if vectors is not None:
        given = ~np.isnan(vectors)
        state[EMBEDDING][: len(vectors)][given] = vectors[given]
    state[EMBEDDING][0] = 0
    if model.encoder == "affine":
        state[AFFINE] = drawn(1 / math.sqrt(width), model.hidden, width)
        width = model.hidden
    if model.attention == "additive":
        state[PROJECT] = drawn(1 / math.sqrt(width), model.query, width)
        state[PROJECT_BIAS] = drawn(1 / math.sqrt(width), model.query)
    state[QUERY] = drawn(model.query_range, model.query if model.attention == "additive" else width)
    state[HEAD] = drawn(1 / math.sqrt(width), outputs, width)
    if model.head_bias:
        state[HEAD_BIAS] = drawn(1 / math.sqrt(width), outputs)
    return state


def shapes(model: Model, units: int, outputs: int) -> dict[str, tuple[int, ...]]:
    """What `fresh` would draw, by name and shape."""
    drawn = fresh(model, 1, outputs, 0)
    return {name: value.shape for name, value in drawn.items()} | {EMBEDDING: (units, drawn[EMBEDDING].shape[1])}


class Tables(NamedTuple):
    """What each unit weighs and says, whatever the text."""

    scores: NDArray[np.float32]  # (units,) attention scores, divided by λ
    polarity: NDArray[np.float32]  # (units, C)
    bias: NDArray[np.float32]  # (C,)


def tables(state: State, scale: float) -> Tables:
    embeddings, head = state[EMBEDDING], state[HEAD]
    scores = np.empty(len(embeddings), dtype=np.float32)
    polarity = np.empty((len(embeddings), len(head)), dtype=np.float32)
    for start in range(0, len(embeddings), CHUNK):
        rows = slice(start, start + CHUNK)
        states = embeddings[rows] @ state[AFFINE].T if AFFINE in state else embeddings[rows]
        keys = np.tanh(states @ state[PROJECT].T + state[PROJECT_BIAS]) if PROJECT in state else states
        scores[rows] = keys @ state[QUERY] / np.float32(scale)
        polarity[rows] = states @ head.T
    return Tables(scores, polarity, state.get(HEAD_BIAS, np.zeros(len(head), dtype=np.float32)))
