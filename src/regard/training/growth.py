"""Weights of a trained flat model, made larger for new units and new classes, so that training can continue with new texts.

Old units keep their vectors. A new unit starts from a random vector, as in a first run. Adagrad's sums are kept as one number per
unit, its mean over the width of the vector, which takes little space; `benchmarks/growing.py` compares this with keeping all.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.config import Model
from regard.data.tokenizer import Tokenizer
from regard.errors import InputError
from regard.models.flat import EMBEDDING, HEAD, HEAD_BIAS, QUERY, State, fresh
from regard.models.run_files import OPTIMIZER
from regard.models.tasks import Binary, Multiclass, Task
from regard.models.trained import Trained
from regard.training.checkpoint import check_sums
from regard.training.committee_engine import member_seed
from regard.training.silence import silent_units
from regard.training.sparse_engine import threads

DEFAULT_SQUARE = 1.0  # of units and weights of a run that has no sums

Rows = NDArray[np.bool_]


class Grown(NamedTuple):
    """What a run starts from, per member."""

    states: list[State]
    squares: list[State]  # Adagrad's sums; empty if there are none
    learned: list[Rows]  # (units,) whether the vector of a unit was trained before


def first_start(model: Model, units: int, outputs: int, seed: int, vectors: NDArray[np.float32] | None = None) -> Grown:
    """Of a run that does not continue another."""
    seeds = [member_seed(seed, member) for member in range(model.attention_models)]
    with ThreadPoolExecutor(threads()) as pool:  # random numbers of large tables are drawn without Python's lock
        states = list(pool.map(lambda one: fresh(model, units, outputs, one, vectors), seeds))
    return Grown(states, [], [np.zeros(len(state[EMBEDDING]), dtype=bool) for state in states])


def grown_states(
    old: Trained, tokenizer: Tokenizer, task: Task, seed: int, vectors: NDArray[np.float32] | None = None
) -> Grown:
    """`tokenizer` and `task` are the new ones, which have everything that the old ones have.

    `vectors` of words, NaN where a word has none, are where new words start.
    """
    model, members = old.config.model, old.config.model.filled().members
    assert isinstance(old.tokenizer, Tokenizer)  # of a flat model
    rows = moved_units(old.tokenizer, tokenizer)
    states, every_square, every_learned = [], [], []
    befores = split_members(old.weights, members, old.metrics.get("temperature", 1.0))
    squares: list[State] = []
    if old.config.training.optimizer == "adagrad" and old.accumulators is not None:
        check_kept(old.accumulators, befores)
        squares = by_member(old.accumulators, members)
    for member, before in enumerate(befores):
        silent = silent_units(before) if members > 1 else np.zeros(len(before[EMBEDDING]), dtype=bool)
        learned = np.zeros(len(tokenizer), dtype=bool)
        learned[rows[~silent]] = True
        initial = initial_vectors(before, vectors, np.flatnonzero(~learned))
        state = fresh(model, len(initial), task.out_dim, member_seed(seed, member), initial)
        embedding = np.empty((len(tokenizer), initial.shape[1]), dtype=np.float32)
        embedding[~learned] = state[EMBEDDING][1:]
        if silent.any():
            embedding[rows[~silent]] = before[EMBEDDING][~silent]
        else:
            embedding[rows] = before[EMBEDDING]
        state[EMBEDDING] = embedding
        for name in before.keys() - {EMBEDDING, HEAD, HEAD_BIAS}:
            state[name] = before[name].copy()
        for name in before.keys() & {HEAD, HEAD_BIAS}:
            state[name] = grown_head(before[name], old.task, task, state[name])
        states.append(state)
        every_learned.append(learned)
        if old.config.training.optimizer == "adagrad":
            sums = squares[member] if squares else default_squares(before)
            every_square.append(grown_squares(sums, state, rows, old.task, task))
    return Grown(states, every_square, every_learned)


def initial_vectors(state: State, vectors: NDArray[np.float32] | None, units: NDArray[np.int64]) -> NDArray[np.float32]:
    """A row for padding, and one for each of the new units: NaN, or the vector of a word."""
    initial = np.full((1 + len(units), state[EMBEDDING].shape[1]), np.nan, dtype=np.float32)
    if vectors is not None:
        words = units < len(vectors)
        initial[1:][words] = vectors[units[words]]
    return initial


def moved_units(old: Tokenizer, new: Tokenizer) -> NDArray[np.int64]:
    """The new id of every old unit: words keep theirs, beginnings and pairs move up to make space for new words."""
    parts = (
        np.arange(len(old.vocabulary)),
        len(new.vocabulary) + np.arange(len(old.beginnings)),
        new.singles + np.arange(len(old.pairs)),
    )
    return np.concatenate(parts).astype(np.int64)


def split_members(weights: State, members: int, temperature: float) -> list[State]:
    """The inverse of `join_members` and of calibration. Every member gets the mean bias."""
    factor = np.float32(temperature)
    states = []
    for member in range(members):
        state = {name: np.split(weights[name], members, axis=-1)[member] for name in (EMBEDDING, QUERY)}
        state[HEAD] = np.split(weights[HEAD], members, axis=1)[member] * (np.float32(members) * factor)
        if HEAD_BIAS in weights:
            state[HEAD_BIAS] = weights[HEAD_BIAS] * factor
        states.append({**weights, **state})
    return states


def grown_head(value: NDArray[np.float32], old: Task, new: Task, initial: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows of the old classes, then the initial rows of new ones.

    The one logit z of two classes becomes −z/2 and z/2, which have the same softmax.
    """
    if isinstance(old, Binary) and isinstance(new, Multiclass):
        value = np.concatenate([-value / 2, value / 2])
    return np.concatenate([value, initial[len(value) :]]).astype(np.float32)


def default_squares(state: State) -> State:
    """Of a run that has kept none."""
    return {name: np.full_like(value, DEFAULT_SQUARE) for name, value in state.items()}


def grown_squares(squares: State, state: State, rows: NDArray[np.int64], old: Task, new: Task) -> State:
    """New units and classes start from 0, like all of them in a first run."""
    grown = {name: np.zeros_like(value) for name, value in state.items()}
    for name, value in squares.items():
        if name == EMBEDDING:
            grown[name][rows] = value
        elif name in (HEAD, HEAD_BIAS):
            both = isinstance(old, Binary) and isinstance(new, Multiclass)
            value = np.concatenate([value, value]) if both else value
            grown[name][: len(value)] = value
        else:
            grown[name][...] = value
    return grown


def kept_squares(squares: list[State]) -> State | None:
    """What a run keeps of Adagrad's sums: (members, …) for each weight, and for embeddings the mean over the width."""
    if not squares or not squares[0]:
        return None
    return {
        name: np.stack([one[name].mean(-1) if name == EMBEDDING else one[name] for one in squares])
        for name in squares[0]
    }


def check_kept(kept: State, states: list[State]) -> None:
    """An InputError unless they are sums of the weights of these members."""
    expected = {
        name: (len(states), *value.shape[: 1 if name == EMBEDDING else None]) for name, value in states[0].items()
    }
    try:
        if {name: value.shape for name, value in kept.items()} != expected:
            raise ValueError("names or shapes of another model")
        if any(value.dtype != np.float32 for value in kept.values()):
            raise ValueError("other numbers than float32")
        check_sums(kept.values(), "sums")
    except ValueError as error:
        raise InputError(
            f"{OPTIMIZER}: expected the optimiser's sums of the run, got {error}; restore it from a copy, or remove it and "
            "continue with --no-verify"
        ) from None


def by_member(kept: State, members: int) -> list[State]:
    """The inverse of `kept_squares`."""
    every = [{name: value[member] for name, value in kept.items()} for member in range(members)]
    return [one | {EMBEDDING: one[EMBEDDING][:, None]} for one in every]
