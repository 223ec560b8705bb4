"""Gradient and step of a flat attention model on one batch, over the rows that the batch uses (`kernels/sparse_steps`)."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.unit_texts import UnitTexts
from regard.kernels import sparse_steps as steps
from regard.kernels.sparse_steps import Room
from regard.models.flat import AFFINE, EMBEDDING, HEAD, HEAD_BIAS, PROJECT, PROJECT_BIAS, QUERY

PARTS = 2  # that a batch is cut into, one a thread at most; a fixed number, so that it is the same on every machine
FEW = 4000  # units below which a batch is not worth cutting
Array = NDArray[Any]
State = dict[str, Array]


class Form(NamedTuple):
    """What the loss is, and the penalties beside it."""

    kind: int  # BINARY, MULTICLASS or REGRESSION of the kernels
    scale: float = 1.0  # λ
    l2: float = 0.0
    vtw: float = 0.0


class Worker:
    """Takes gradients and steps. Its buffers are its own; the weights are shared with other workers."""

    def __init__(self, state: State, squares: State, form: Form, adagrad: bool = True) -> None:
        self.state, self.squares, self.form = state, squares, form
        self.method = steps.ADAGRAD if adagrad else steps.SGD
        self.dtype = state[EMBEDDING].dtype
        units = len(state[EMBEDDING])
        self.stamps, self.slots = np.zeros(units, dtype=np.int32), np.empty(units, dtype=np.int32)
        self.clock = 0
        self.bias = np.zeros(len(state[HEAD]), dtype=self.dtype)  # where the head has none
        self.room = self.make_room(1 << 10, 1 << 5)
        self.own_rows, self.own_gradients = np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=self.dtype)

    def make_room(self, units: int, texts: int) -> Room:
        width, outputs = self.state[HEAD].shape[1], len(self.state[HEAD])

        def floats(*shape: int) -> Array:
            return np.empty(shape, dtype=self.dtype)

        return Room(
            rows=np.empty(units, dtype=np.int32),
            unit_slots=np.empty(units, dtype=np.int32),
            extra=floats(units),
            weights=floats(units),
            embedded=floats(units, self.state[EMBEDDING].shape[1]),
            scores=floats(units),
            by_state=floats(units, width),
            by_score=floats(units),
            bounds=np.zeros(texts + 1, dtype=np.int64),
            vectors=floats(texts, width),
            back=floats(texts, width),
            errors=floats(texts, outputs),
            against=floats(texts),
            losses=np.empty(texts),
        )

    def gradient(
        self, texts: UnitTexts, chosen: NDArray[np.int64], dropout: float = 0.0, seed: int = 0, batch: int = 0
    ) -> tuple[float, NDArray[np.int32], State]:
        """(Σ losses, rows, gradients): the mean loss's, of the embeddings for the rows alone; penalties but L2 are in.

        `batch` is the number of texts in the whole batch, where these are a part of it.
        """
        state, form, size = self.state, self.form, len(chosen)
        batch = batch or size
        units = int((texts.offsets[chosen + 1] - texts.offsets[chosen]).sum())
        if units > len(self.room.rows) or size > len(self.room.losses):
            self.room = self.make_room(max(units * 5 // 4, len(self.room.rows)), max(size, len(self.room.losses)))
        self.clock += 1
        is_plain = AFFINE not in state and PROJECT not in state
        loss, count, found = (self.look if is_plain else self.look_by_matrices)(texts, chosen, dropout, seed, batch)
        if HEAD_BIAS not in state:
            del found[HEAD_BIAS]
        if form.vtw:
            product = (2 * form.vtw * size / batch) * (state[HEAD] @ state[QUERY])  # (C,)
            found[HEAD] += np.outer(product, state[QUERY])
            found[QUERY] += product @ state[HEAD]
        return loss, self.room.rows[:count], found

    def look(
        self, texts: UnitTexts, chosen: NDArray[np.int64], dropout: float, seed: int, batch: int
    ) -> tuple[float, int, State]:
        """Dot scores of the embeddings themselves: one kernel does it all."""
        state, form = self.state, self.form
        found = {name: np.empty_like(state[name]) for name in (QUERY, HEAD)}
        found[HEAD_BIAS] = np.empty_like(self.bias)
        given = (*texts, chosen, dropout, np.uint64(seed), self.clock, self.stamps, self.slots)
        model = (state[EMBEDDING], state[QUERY], form.scale, state[HEAD], state.get(HEAD_BIAS, self.bias), form.kind)
        by = (found[QUERY], found[HEAD], found[HEAD_BIAS])
        count, loss = steps.look(*given, *model, batch, self.room, *by)
        found[EMBEDDING] = self.room.by_state[:count]
        return loss, count, found

    def look_by_matrices(
        self, texts: UnitTexts, chosen: NDArray[np.int64], dropout: float, seed: int, batch: int
    ) -> tuple[float, int, State]:
        """With an affine layer or additive scores, which are matrices times the gathered rows."""
        state, form, room, size = self.state, self.form, self.room, len(chosen)
        room.bounds[0] = 0
        bounds, vectors, errors = room.bounds[: size + 1], room.vectors[:size], room.errors[:size]
        given = (texts.ids, texts.counts, texts.offsets, chosen, dropout, np.uint64(seed), self.clock)
        count = steps.collect(*given, self.stamps, self.slots, room.rows, room.unit_slots, room.extra, bounds)
        embedded, by_state, by_score = room.embedded[:count], room.by_state[:count], room.by_score[:count]
        steps.gather(state[EMBEDDING], room.rows[:count], embedded)
        states = embedded @ state[AFFINE].T if AFFINE in state else embedded
        keys = np.tanh(states @ state[PROJECT].T + state[PROJECT_BIAS]) if PROJECT in state else states
        scores = (keys @ state[QUERY] / form.scale).astype(self.dtype)
        head = (state[HEAD], state.get(HEAD_BIAS, self.bias), texts.labels[chosen], form.kind)
        made: Any = (room.weights, vectors, errors, room.back, room.against, room.losses, batch)
        read: Any = steps.read
        read(room.unit_slots, room.extra, bounds, states, scores, *head, *made)
        steps.spread(room.unit_slots, bounds, states, room.weights, room.back, room.against, by_state, by_score)
        found: State = {HEAD: errors.T @ vectors, HEAD_BIAS: errors.sum(0), QUERY: by_score @ keys / form.scale}
        by_key = by_score[:, None] * (state[QUERY] / form.scale)
        if PROJECT in state:
            by_key = by_key * (1 - keys * keys)
            found[PROJECT], found[PROJECT_BIAS] = by_key.T @ states, by_key.sum(0)
            by_key = by_key @ state[PROJECT]
        by_state += by_key.astype(self.dtype)
        if AFFINE in state:
            found[AFFINE] = by_state.T @ embedded
        found[EMBEDDING] = by_state @ state[AFFINE] if AFFINE in state else by_state
        return float(room.losses[:size].sum()), count, found

    def step(self, texts: UnitTexts, chosen: NDArray[np.int64], rate: float, dropout: float, seed: int) -> float:
        """Take one step and return the sum of the texts' losses before it."""
        loss, rows, found = self.gradient(texts, chosen, dropout, seed)
        table, squares = self.state[EMBEDDING], self.squares.get(EMBEDDING, self.state[EMBEDDING])
        steps.move_rows(table, squares, rows, found[EMBEDDING], rate, self.form.l2, self.method)
        self.move_others([found], rate)
        return loss

    def move_others(self, parts: list[State], rate: float) -> None:
        """The weights that are not the embeddings, by the sum of the parts' gradients."""
        for name in parts[0]:
            if name == EMBEDDING:
                continue
            weight = self.state[name]
            gradient = sum((part[name] for part in parts[1:]), parts[0][name]) + self.form.l2 * weight
            if self.method == steps.ADAGRAD:
                self.squares[name] += gradient * gradient
                gradient = gradient / (np.sqrt(self.squares[name]) + steps.EPSILON)
            weight -= (rate * gradient).astype(weight.dtype)


class Crew:
    """Takes steps on several threads, which wait for each other: the same weights whatever the number of threads."""

    def __init__(self, state: State, squares: State, form: Form, adagrad: bool, threads: int) -> None:
        self.workers = [Worker(state, squares, form, adagrad) for _ in range(PARTS)]
        self.threads = 1 << (min(threads, PARTS).bit_length() - 1)  # a power of two
        self.pool = ThreadPoolExecutor(PARTS)
        self.stamps = np.zeros(len(state[EMBEDDING]), dtype=np.int32)
        self.places = np.empty(len(state[EMBEDDING]), dtype=np.int64)
        self.clock = 0
        self.found: list[Any] = [None] * PARTS
        self.met = [0] * self.threads
        self.failed = False

    def steps(
        self, texts: UnitTexts, batches: list[NDArray[np.int64]], rates: list[float], dropout: float, seed: int
    ) -> float:
        """A step for each batch, and the sum of the losses before each."""
        units = sum(int((texts.offsets[batch + 1] - texts.offsets[batch]).sum()) for batch in batches)
        if units < FEW * len(batches):
            taken = zip(batches, rates, strict=True)
            return sum(self.workers[0].step(texts, batch, rate, dropout, seed) for batch, rate in taken)

        def go(thread: int) -> float:
            try:
                with np.errstate(all="ignore"):  # each thread has its own; who called looks at the loss
                    taken = enumerate(zip(batches, rates, strict=True), self.clock + 1)
                    return sum(self.step(thread, texts, *step, dropout, seed, clock) for clock, step in taken)
            except BaseException:
                self.failed = True  # or the others would wait for ever
                raise

        others = [self.pool.submit(go, thread) for thread in range(1, self.threads)]
        total = go(0)
        self.clock += len(batches)
        return total + sum(other.result() for other in others)

    def step(
        self,
        thread: int,
        texts: UnitTexts,
        chosen: NDArray[np.int64],
        rate: float,
        dropout: float,
        seed: int,
        clock: int,
    ) -> float:
        """What one thread does: the gradients of its parts, then the rows that it owns. The sum of its parts' losses."""
        own, worker, loss = parts_of(texts, chosen), self.workers[thread], 0.0
        for part in range(thread, PARTS, self.threads):
            if len(own[part]):
                self.found[part] = self.workers[part].gradient(texts, own[part], dropout, seed, len(chosen))
                loss += self.found[part][0]
            else:
                self.found[part] = None
        self.meet(thread)
        found = [part for part in self.found if part is not None]
        rows, gradients = tuple(part[1] for part in found), tuple(part[2][EMBEDDING] for part in found)
        table, most = worker.state[EMBEDDING], sum(map(len, rows))
        if most > len(worker.own_rows):
            worker.own_rows = np.empty(most * 5 // 4, dtype=np.int32)
            worker.own_gradients = np.empty((most * 5 // 4, table.shape[1]), dtype=worker.dtype)
        how: Any = (rate, worker.form.l2, worker.method, self.stamps, self.places, clock, thread, self.threads)
        squares = worker.squares.get(EMBEDDING, table)
        how += (worker.own_rows, worker.own_gradients)
        steps.move_merged(table, squares, rows, gradients, *how)
        if thread == 0:
            worker.move_others([part[2] for part in found], rate)
        self.meet(thread)
        return loss

    def meet(self, thread: int) -> None:
        """Wait until all are here. Awake: to be woken takes a tenth of a millisecond, and there are two meetings a step."""
        self.met[thread] += 1
        while min(self.met) < self.met[thread]:
            if self.failed:
                raise RuntimeError("another thread failed")
            give_way()

    def close(self) -> None:
        self.pool.shutdown()


def parts_of(texts: UnitTexts, chosen: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """A batch in PARTS of about as many units each; a part may be empty."""
    ends = np.cumsum(texts.offsets[chosen + 1] - texts.offsets[chosen])
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, PARTS) / PARTS)
    return np.split(chosen, np.minimum(cuts + 1, len(chosen)))


def give_way() -> None:
    """Let go of the interpreter, and of the core if somebody else wants it."""
    if sys.platform == "linux":
        os.sched_yield()
    else:
        time.sleep(0)
