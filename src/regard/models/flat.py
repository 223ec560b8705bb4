"""Flat attention models without PyTorch: their weights, under the parameter names of `Classifier`, and lookup tables.

Embeddings, optionally an affine layer (DP-A), dot or additive scores, a linear head: Sun & Lu's models. The state,
attention score and polarity of a word depend on the word alone, so they can be precomputed as tables.

The members of a committee stand side by side in the same arrays: the vector of a unit is that of the first member, then that
of the second, and so on. Each attends by itself, and the logits are the mean over the members.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.ordered_threads import ordered

if TYPE_CHECKING:
    from regard.config import Model

State = dict[str, NDArray[np.float32]]

EMBEDDING = "embedding.weight"
AFFINE = "levels.0.encoder.map.weight"
PROJECT, PROJECT_BIAS = "levels.0.pooling.scorer.project.weight", "levels.0.pooling.scorer.project.bias"
QUERY = "levels.0.pooling.scorer.query"
HEAD, HEAD_BIAS = "head.weight", "head.bias"
PERCEPTRON = ("head.out.weight", "head.out.bias")  # the last layer of a head that has a hidden one
CHUNK = 1 << 14  # table rows computed at a time


def output_layer(names: Collection[str]) -> list[str]:
    """The weights of the layer that computes the logits, among those of any model."""
    layer = PERCEPTRON if PERCEPTRON[0] in names else (HEAD, HEAD_BIAS)
    return [name for name in layer if name in names]


def is_flat(model: Model) -> bool:
    """Whether a model has this form."""
    plain = model.encoder in ("embedding", "affine") and model.pooling == "attention"
    return plain and model.levels == 1 and not model.head_hidden


def fresh(model: Model, units: int, outputs: int, seed: int, vectors: NDArray[np.float32] | None = None) -> State:
    """Initial weights, with the distributions of `models/build`. NaN in `vectors` marks units without a vector."""
    rng = np.random.default_rng((seed, 104729))

    def uniform(bound: float, *shape: int) -> NDArray[np.float32]:
        values = rng.random(shape, dtype=np.float32)
        values *= 2
        values -= 1
        values *= np.float32(bound)
        return values

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


def join_members(states: Sequence[State]) -> State:
    """The weights of a committee from those of its members, which have the same shapes."""
    if len(states) == 1:
        return states[0]
    count = np.float32(len(states))
    joined = {
        EMBEDDING: side_by_side([state[EMBEDDING] for state in states]),
        QUERY: np.concatenate([state[QUERY] for state in states]),
        HEAD: np.concatenate([state[HEAD] / count for state in states], axis=1),
    }
    if HEAD_BIAS in states[0]:
        joined[HEAD_BIAS] = np.stack([state[HEAD_BIAS] for state in states]).mean(0)
    return joined


def side_by_side(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """(units, E) per member -> (units, M E), by two threads: most of the time is spent in getting new memory."""
    units, width = vectors[0].shape
    joined = np.empty((units, len(vectors) * width), dtype=vectors[0].dtype)

    def copy(start: int) -> None:
        rows = slice(start, start + CHUNK)
        for member, own in enumerate(vectors):
            joined[rows, member * width : (member + 1) * width] = own[rows]

    for _ in ordered(copy, range(0, units, CHUNK)):
        pass
    return joined


def shapes(model: Model, units: int, outputs: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights of a model, those that `fresh` would return for one member; a test compares them."""
    model = model.filled()
    embedding = model.embedding * model.members
    width = model.hidden if model.encoder == "affine" else embedding
    additive = model.attention == "additive"
    expected: dict[str, tuple[int, ...]] = {EMBEDDING: (units, embedding)}
    if model.encoder == "affine":
        expected[AFFINE] = (width, embedding)
    if additive:
        expected |= {PROJECT: (model.query, width), PROJECT_BIAS: (model.query,)}
    expected |= {QUERY: (model.query if additive else width,), HEAD: (outputs, width)}
    return expected | ({HEAD_BIAS: (outputs,)} if model.head_bias else {})


def check_shapes(model: Model, weights: State, units: int, outputs: int) -> None:
    """Check the names and shapes of the weights. Embeddings may have the width of a vectors file, unknown to the options."""
    actual = {name: value.shape for name, value in weights.items()}
    for name, value in weights.items():
        if value.dtype != np.float32:
            raise InputError(f"weights.safetensors: {name}: expected float32, got {value.dtype}")
    if len(actual.get(EMBEDDING, ())) != 2:
        raise InputError(f"weights.safetensors: {EMBEDDING}: expected a table, got the shape {actual.get(EMBEDDING)}")
    width = weights[EMBEDDING].shape[1] // model.filled().members
    expected = shapes(replace(model.filled(), embedding=width), units, outputs)
    if actual != expected:
        mismatch = next(name for name in {**expected, **actual} if actual.get(name) != expected.get(name))
        raise InputError(
            f"weights.safetensors: {mismatch}: expected the shape {expected.get(mismatch)}, got {actual.get(mismatch)}"
        )


class Tables(NamedTuple):
    """Attention score and polarity of each unit in each of M members, which do not depend on the text."""

    scores: NDArray[np.float32]  # (units, M) attention scores, divided by λ
    polarity: NDArray[np.float32]  # (units, M, C); the sum over M is the polarity of the unit
    bias: NDArray[np.float32]  # (C,)


def tables(state: State, scale: float, members: int = 1, in_threads: bool = False) -> Tables:
    """`in_threads`: by two threads, with the same numbers if BLAS itself uses one."""
    embeddings, head = state[EMBEDDING], state[HEAD]
    scores = np.empty((len(embeddings), members), dtype=np.float32)
    polarity = np.empty((len(embeddings), members, len(head)), dtype=np.float32)
    settings = np.geterr()  # of this thread; others would have their own

    def fill(start: int) -> None:
        rows = slice(start, start + CHUNK)
        with np.errstate(**settings):
            states = embeddings[rows] @ state[AFFINE].T if AFFINE in state else embeddings[rows]
            keys = np.tanh(states @ state[PROJECT].T + state[PROJECT_BIAS]) if PROJECT in state else states
            for member, (own_keys, own_states) in enumerate(
                zip(*(np.split(x, members, 1) for x in (keys, states)), strict=True)
            ):
                query, own_head = np.split(state[QUERY], members)[member], np.split(head, members, 1)[member]
                scores[rows, member] = own_keys @ query / np.float32(scale)
                polarity[rows, member] = own_states @ own_head.T

    for _ in (ordered if in_threads else map)(fill, range(0, len(embeddings), CHUNK)):
        pass
    return Tables(scores, polarity, state.get(HEAD_BIAS, np.zeros(len(head), dtype=np.float32)))


def one_blas_thread() -> AbstractContextManager[object]:
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # `regard.runtime` needs NumPy only
        return nullcontext()
    limits: AbstractContextManager[object] = threadpool_limits(1, "blas")
    return limits


def finite_tables(state: State, scale: float, members: int = 1) -> Tables:
    """The tables of weights that were loaded. InputError if the weights are finite, but so large that their products are not.

    The products have few columns: threads of BLAS would mostly wait for each other, at several times the CPU time.
    """
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        lookup = tables(state, scale, members, in_threads=True)
        # a sum of finite numbers is finite, unless it overflows, and takes a fifth of the time
        suspects = [value for value in lookup if not np.isfinite(value.sum())]
    if not all(bool(np.isfinite(value).all()) for value in suspects):
        raise InputError("the weights of the model are too large: its scores are not finite numbers")
    return lookup


def state_of(lookup: Tables, scale: float) -> State:
    """Weights whose tables are the given ones: the vector of a unit is its polarity and its score, member by member.

    So any flat model can be written with C + 1 numbers per unit and member, whatever the width that it was trained with.
    """
    units, members, outputs = lookup.polarity.shape
    vectors = np.concatenate((lookup.polarity, lookup.scores[:, :, None] * np.float32(scale)), 2)  # (units, M, C + 1)
    embedding = vectors.reshape(units, members * (outputs + 1)).astype(np.float32)
    embedding[0] = 0
    query, head = np.zeros(outputs + 1, dtype=np.float32), np.eye(outputs, outputs + 1, dtype=np.float32)
    query[-1] = 1
    return {EMBEDDING: embedding, QUERY: np.tile(query, members), HEAD: np.tile(head, members), HEAD_BIAS: lookup.bias}
