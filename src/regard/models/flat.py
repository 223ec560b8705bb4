"""Flat attention models without PyTorch: their weights, under the parameter names of `Classifier`, and lookup tables.

Embeddings, optionally an affine layer (DP-A), dot or additive scores, a linear head: Sun & Lu's models. The state,
attention score and polarity of a word depend on the word alone, so they can be precomputed as tables.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError

if TYPE_CHECKING:
    from regard.config import Model

State = dict[str, NDArray[np.float32]]

EMBEDDING = "embedding.weight"
AFFINE = "levels.0.encoder.map.weight"
PROJECT, PROJECT_BIAS = "levels.0.pooling.scorer.project.weight", "levels.0.pooling.scorer.project.bias"
QUERY = "levels.0.pooling.scorer.query"
HEAD, HEAD_BIAS = "head.weight", "head.bias"
CHUNK = 1 << 14  # table rows computed at a time


def is_flat(model: Model) -> bool:
    """Whether a model has this form."""
    plain = model.encoder in ("embedding", "affine") and model.pooling == "attention"
    return plain and model.levels == 1 and not model.head_hidden


def fresh(model: Model, units: int, outputs: int, seed: int, vectors: NDArray[np.float32] | None = None) -> State:
    """Initial weights, with the distributions of `models/build`. NaN in `vectors` marks units without a vector."""
    rng = np.random.default_rng((seed, 104729))

    def uniform(bound: float, *shape: int) -> NDArray[np.float32]:
        return ((rng.random(shape, dtype=np.float32) * 2 - 1) * np.float32(bound)).astype(np.float32)

    model = model.filled()
    width = model.embedding if vectors is None else vectors.shape[1]
    state = {EMBEDDING: uniform(model.embedding_range, units, width)}
    if vectors is not None:
        has_vector = ~np.isnan(vectors)
        state[EMBEDDING][: len(vectors)][has_vector] = vectors[has_vector]
    state[EMBEDDING][0] = 0
    if model.encoder == "affine":
        state[AFFINE] = uniform(1 / math.sqrt(width), model.hidden, width)
        width = model.hidden
    if model.attention == "additive":
        state[PROJECT] = uniform(1 / math.sqrt(width), model.query, width)
        state[PROJECT_BIAS] = uniform(1 / math.sqrt(width), model.query)
    state[QUERY] = uniform(model.query_range, model.query if model.attention == "additive" else width)
    state[HEAD] = uniform(1 / math.sqrt(width), outputs, width)
    if model.head_bias:
        state[HEAD_BIAS] = uniform(1 / math.sqrt(width), outputs)
    return state


def shapes(model: Model, units: int, outputs: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights that `fresh` would return; a test compares them."""
    model = model.filled()
    width = model.hidden if model.encoder == "affine" else model.embedding
    additive = model.attention == "additive"
    expected: dict[str, tuple[int, ...]] = {EMBEDDING: (units, model.embedding)}
    if model.encoder == "affine":
        expected[AFFINE] = (width, model.embedding)
    if additive:
        expected |= {PROJECT: (model.query, width), PROJECT_BIAS: (model.query,)}
    expected |= {QUERY: (model.query if additive else width,), HEAD: (outputs, width)}
    return expected | ({HEAD_BIAS: (outputs,)} if model.head_bias else {})


def check_shapes(model: Model, weights: State, units: int, outputs: int) -> None:
    """Check the names and shapes of the weights. Embeddings may have the width of a vectors file, unknown to the options."""
    actual = {name: value.shape for name, value in weights.items()}
    width = weights[EMBEDDING].shape[1]
    expected = shapes(replace(model.filled(), embedding=width), units, outputs)
    if actual != expected:
        mismatch = next(name for name in {**expected, **actual} if actual.get(name) != expected.get(name))
        raise InputError(
            f"weights.safetensors: {mismatch}: expected the shape {expected.get(mismatch)}, got {actual.get(mismatch)}"
        )


class Tables(NamedTuple):
    """Attention score and polarity of each unit, which do not depend on the text."""

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
