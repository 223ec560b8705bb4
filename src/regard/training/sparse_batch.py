"""Gradient and step of a flat attention model on one batch, over the rows that the batch uses (`kernels/sparse_steps`)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.kernels import sparse_steps as steps
from regard.models.flat import AFFINE, EMBEDDING, HEAD, HEAD_BIAS, PROJECT, PROJECT_BIAS, QUERY

FEW = 6000  # units below which a batch is not worth a second thread
Array = NDArray[Any]
State = dict[str, Array]


class Form(NamedTuple):
    """What the loss is, and the penalties beside it."""

    kind: int  # BINARY, MULTICLASS or REGRESSION of the kernels
    scale: float = 1.0  # λ
    l2: float = 0.0
    vtw: float = 0.0


class UnitTexts(NamedTuple):
    """Texts as different units with counts, one behind the other, and their encoded labels."""

    ids: NDArray[np.int32]
    counts: NDArray[np.uint16]
    offsets: NDArray[np.int64]
    labels: Array


class Team:
    """Runs a phase in parts on several threads; the kernels let go of the interpreter's lock."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def run(self, phase: Callable[..., Any], *given: Any, alone: bool = False) -> None:
        if self._pool is None or alone:
            phase(*given, 0, 1)
            return
        others = [self._pool.submit(phase, *given, part, self.threads) for part in range(1, self.threads)]
        phase(*given, 0, self.threads)
        for other in others:
            other.result()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()


class Worker:
    """Takes steps. Its buffers are its own; the weights may be shared with other workers (lock-free)."""

    def __init__(self, state: State, squares: State, form: Form, team: Team, adagrad: bool = True) -> None:
        self.state, self.squares, self.form, self.team = state, squares, form, team
        self.method = steps.ADAGRAD if adagrad else steps.SGD
        self.dtype = state[EMBEDDING].dtype
        units = len(state[EMBEDDING])
        self.stamps, self.slots = np.zeros(units, dtype=np.int32), np.empty(units, dtype=np.int32)
        self.clock = 0
        self.buffers: dict[str, Array] = {}
        self.bias = np.zeros(len(state[HEAD]), dtype=self.dtype)  # where the head has none

    def buffer(self, name: str, *shape: int, dtype: Any = None) -> Array:
        """Room that is used again from step to step."""
        have = self.buffers.get(name)
        if have is None or have.shape[0] < shape[0] or have.shape[1:] != shape[1:]:
            have = np.empty((shape[0] * 5 // 4 + 16, *shape[1:]), dtype=dtype or self.dtype)
            self.buffers[name] = have
        return have[: shape[0]]

    def gradient(
        self, texts: UnitTexts, chosen: NDArray[np.int64], dropout: float = 0.0, seed: int = 0
    ) -> tuple[float, NDArray[np.int32], State]:
        """(Σ losses, rows, gradients): the mean loss's, of the embeddings for the rows alone; penalties but L2 are in."""
        state, run, size = self.state, self.team.run, len(chosen)
        units = int((texts.offsets[chosen + 1] - texts.offsets[chosen]).sum())
        self.clock += 1
        rows, unit_slots = self.buffer("rows", units, dtype=np.int32), self.buffer("slots", units, dtype=np.int32)
        extra, bounds = self.buffer("extra", units), self.buffer("bounds", size + 1, dtype=np.int64)
        bounds[0] = 0
        given = (texts.ids, texts.counts, texts.offsets, chosen, dropout, np.uint64(seed), self.clock)
        count = steps.collect(*given, self.stamps, self.slots, rows, unit_slots, extra, bounds)
        rows, alone = rows[:count], units < FEW
        embedded = self.buffer("embedded", count, state[EMBEDDING].shape[1])
        run(steps.gather, state[EMBEDDING], rows, embedded, alone=alone)
        states = embedded @ state[AFFINE].T if AFFINE in state else embedded
        scores, keys = self.buffer("scores", count), None
        if PROJECT in state:
            keys = np.tanh(states @ state[PROJECT].T + state[PROJECT_BIAS])
            scores[:] = keys @ state[QUERY] / self.form.scale
        else:
            run(steps.score, states, state[QUERY], self.form.scale, scores, alone=alone)
        width, outputs = states.shape[1], len(state[HEAD])
        weights, against = self.buffer("weights", units), self.buffer("against", size)
        vectors, back = self.buffer("vectors", size, width), self.buffer("back", size, width)
        errors, losses = self.buffer("errors", size, outputs), self.buffer("losses", size, dtype=np.float64)
        head = (state[HEAD], state.get(HEAD_BIAS, self.bias), texts.labels[chosen], self.form.kind)
        made = (weights, vectors, errors, back, against, losses)
        run(steps.read, unit_slots, extra, bounds, states, scores, *head, *made, alone=alone)
        by_state, by_score = self.buffer("by_state", count, width), self.buffer("by_score", count)
        run(steps.spread, unit_slots, bounds, states, weights, back, against, by_state, by_score, alone=alone)
        found: State = {HEAD: errors.T @ vectors}
        if HEAD_BIAS in state:
            found[HEAD_BIAS] = errors.sum(0)
        if keys is not None:
            found[QUERY] = by_score @ keys / self.form.scale
            by_key = by_score[:, None] * (state[QUERY] / self.form.scale) * (1 - keys * keys)
            found[PROJECT], found[PROJECT_BIAS] = by_key.T @ states, by_key.sum(0)
            by_state += by_key @ state[PROJECT]
        else:
            found[QUERY] = by_score @ states / self.form.scale
            run(steps.add_outer, by_state, by_score, state[QUERY], self.form.scale, alone=alone)
        if self.form.vtw:
            product = state[HEAD] @ state[QUERY]  # (C,)
            found[HEAD] += 2 * self.form.vtw * np.outer(product, state[QUERY])
            found[QUERY] += 2 * self.form.vtw * (product @ state[HEAD])
        if AFFINE in state:
            found[AFFINE] = by_state.T @ embedded
            found[EMBEDDING] = by_state @ state[AFFINE]
        else:
            found[EMBEDDING] = by_state
        return float(losses.sum()), rows, found

    def step(self, texts: UnitTexts, chosen: NDArray[np.int64], rate: float, dropout: float, seed: int) -> float:
        """Take one step and return the sum of the texts' losses before it."""
        loss, rows, found = self.gradient(texts, chosen, dropout, seed)
        l2 = self.form.l2
        table, squares = self.state[EMBEDDING], self.squares.get(EMBEDDING, self.state[EMBEDDING])
        given = (table, squares, rows, found.pop(EMBEDDING), rate, l2, self.method)
        self.team.run(steps.move_rows, *given, alone=len(rows) < FEW // 2)
        for name, gradient in found.items():
            weight = self.state[name]
            gradient = gradient + l2 * weight if l2 else gradient
            if self.method == steps.ADAGRAD:
                self.squares[name] += gradient * gradient
                gradient = gradient / (np.sqrt(self.squares[name]) + steps.EPSILON)
            weight -= (rate * gradient).astype(weight.dtype)
        return loss
