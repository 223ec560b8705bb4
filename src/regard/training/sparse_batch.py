"""Gradient and step of a flat attention model on one batch, restricted to the rows in use (`kernels/sparse_steps`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.data.unit_texts import UnitTexts
from regard.kernels import sparse_steps as steps
from regard.kernels.sparse_steps import Weights, Workspace
from regard.models.flat import AFFINE, EMBEDDING, HEAD, HEAD_BIAS, PROJECT, PROJECT_BIAS, QUERY

Array = NDArray[Any]
State = dict[str, Array]
NO_WEIGHTS = np.empty(0, dtype=np.float32)  # the loss of every text counts 1


class Objective(NamedTuple):
    """The loss, and the penalties that are added to it."""

    kind: int  # BINARY, MULTICLASS, REGRESSION or MULTILABEL of the kernels
    scale: float = 1.0  # λ
    l2: float = 0.0
    vtw: float = 0.0


def by_output(labels: Array) -> Array:
    """As the kernels take them: (texts, 1), or (texts, C) for several labels per text."""
    return labels if labels.ndim == 2 else labels[:, None]


class Worker:
    """Computes gradients and takes steps. Each worker has its own buffers; the weights are shared with other workers."""

    def __init__(self, state: State, squares: State, objective: Objective, adagrad: bool = True) -> None:
        self.state, self.squares, self.objective = state, squares, objective
        self.method = steps.ADAGRAD if adagrad else steps.SGD
        self.dtype = state[EMBEDDING].dtype
        units = len(state[EMBEDDING])
        self.marks = np.zeros(units, dtype=np.int64)
        self.clock = 0
        self.bias = np.zeros(len(state[HEAD]), dtype=self.dtype)  # if the head has none
        self.workspace = self.make_workspace(1 << 10, 1 << 5)
        self.merged_rows, self.merged_gradients = np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=self.dtype)

    def make_workspace(self, units: int, texts: int) -> Workspace:
        width, outputs = self.state[HEAD].shape[1], len(self.state[HEAD])

        def floats(*shape: int) -> Array:
            return np.empty(shape, dtype=self.dtype)

        return Workspace(
            rows=np.empty(units, dtype=np.int32),
            unit_slots=np.empty(units, dtype=np.int32),
            log_counts=floats(units),
            weights=floats(units),
            embedded=floats(units, self.state[EMBEDDING].shape[1]),
            scores=floats(units),
            by_state=floats(units, width),
            by_score=floats(units),
            bounds=np.zeros(texts + 1, dtype=np.int64),
            vectors=floats(texts, width),
            vector_gradients=floats(texts, width),
            errors=floats(texts, outputs),
            vector_dots=floats(texts),
            losses=np.empty(texts),
        )

    @property
    def is_plain(self) -> bool:
        """Whether scores are dot products with the embeddings themselves."""
        return AFFINE not in self.state and PROJECT not in self.state

    def make_space(self, units: int, texts: int) -> None:
        """Enlarge the buffers, if a batch needs it."""
        space = self.workspace
        if units > len(space.rows) or texts > len(space.losses):
            self.workspace = self.make_workspace(max(units * 5 // 4, len(space.rows)), max(texts, len(space.losses)))

    def gradient(
        self, texts: UnitTexts, chosen: NDArray[np.int64], dropout: float = 0.0, seed: int = 0, batch: int = 0
    ) -> tuple[float, NDArray[np.int32], State]:
        """(sum of losses, rows, gradients of the mean loss), with penalties other than L2; embeddings only for these rows.

        The mean is over the number of texts, also if they have weights.

        `batch` is the number of texts in the whole batch, if these are a part of it.
        """
        state, objective, size = self.state, self.objective, len(chosen)
        batch = batch or size
        self.make_space(int((texts.offsets[chosen + 1] - texts.offsets[chosen]).sum()), size)
        self.clock += 1
        compute = self.gradient_of_dots if self.is_plain else self.gradient_by_matrices
        loss, count, gradients = compute(texts, chosen, dropout, seed, batch)
        if HEAD_BIAS not in state:
            del gradients[HEAD_BIAS]
        if objective.vtw:
            product = (2 * objective.vtw * size / batch) * (state[HEAD] @ state[QUERY])  # (C,)
            gradients[HEAD] += np.outer(product, state[QUERY])
            gradients[QUERY] += product @ state[HEAD]
        return loss, self.workspace.rows[:count], gradients

    def gradient_of_dots(
        self, texts: UnitTexts, chosen: NDArray[np.int64], dropout: float, seed: int, batch: int
    ) -> tuple[float, int, State]:
        """Dot scores of the embeddings themselves: one kernel computes everything."""
        state, objective = self.state, self.objective
        gradients = {name: np.empty_like(state[name]) for name in (QUERY, HEAD)}
        gradients[HEAD_BIAS] = np.empty_like(self.bias)
        count, loss = steps.batch_gradients(
            texts.ids,
            texts.counts,
            texts.offsets,
            by_output(texts.labels),
            NO_WEIGHTS if texts.weights is None else texts.weights,
            chosen,
            dropout,
            np.uint64(seed),
            self.clock,
            self.marks,
            state[EMBEDDING],
            state[QUERY],
            objective.scale,
            state[HEAD],
            state.get(HEAD_BIAS, self.bias),
            objective.kind,
            batch,
            self.workspace,
            gradients[QUERY],
            gradients[HEAD],
            gradients[HEAD_BIAS],
        )
        gradients[EMBEDDING] = self.workspace.by_state[:count]
        return loss, count, gradients

    def gradient_by_matrices(
        self, texts: UnitTexts, chosen: NDArray[np.int64], dropout: float, seed: int, batch: int
    ) -> tuple[float, int, State]:
        """With an affine layer or additive scores: matrix products with the gathered rows."""
        state, scale, space = self.state, self.objective.scale, self.workspace
        count, bounds = self.collect(texts, chosen, dropout, seed)
        embedded, by_state, by_score = space.embedded[:count], space.by_state[:count], space.by_score[:count]
        steps.gather(state[EMBEDDING], space.rows[:count], embedded)
        states = embedded @ state[AFFINE].T if AFFINE in state else embedded
        keys = np.tanh(states @ state[PROJECT].T + state[PROJECT_BIAS]) if PROJECT in state else states
        scores = (keys @ state[QUERY] / scale).astype(self.dtype)
        vectors, errors = self.forward(states, scores, bounds, texts, chosen, batch)
        steps.row_gradients(
            space.unit_slots,
            bounds,
            states,
            space.weights,
            space.vector_gradients,
            space.vector_dots,
            by_state,
            by_score,
        )
        gradients: State = {HEAD: errors.T @ vectors, HEAD_BIAS: errors.sum(0), QUERY: by_score @ keys / scale}
        by_key = by_score[:, None] * (state[QUERY] / scale)
        if PROJECT in state:
            by_key = by_key * (1 - keys * keys)
            gradients[PROJECT], gradients[PROJECT_BIAS] = by_key.T @ states, by_key.sum(0)
            by_key = by_key @ state[PROJECT]
        by_state += by_key.astype(self.dtype)
        if AFFINE in state:
            gradients[AFFINE] = by_state.T @ embedded
        gradients[EMBEDDING] = by_state @ state[AFFINE] if AFFINE in state else by_state
        return float(space.losses[: len(chosen)].sum()), count, gradients

    def collect(
        self, texts: UnitTexts, chosen: NDArray[np.int64], dropout: float, seed: int
    ) -> tuple[int, NDArray[np.int64]]:
        """Find the rows that a batch uses: their number, and where the units of each text begin."""
        space = self.workspace
        space.bounds[0] = 0
        bounds = space.bounds[: len(chosen) + 1]
        count = steps.collect(
            texts.ids,
            texts.counts,
            texts.offsets,
            chosen,
            dropout,
            np.uint64(seed),
            self.clock,
            self.marks,
            space.rows,
            space.unit_slots,
            space.log_counts,
            bounds,
        )
        return count, bounds

    def forward(
        self,
        states: Array,
        scores: Array,
        bounds: NDArray[np.int64],
        texts: UnitTexts,
        chosen: NDArray[np.int64],
        batch: int,
    ) -> tuple[Array, Array]:
        """Forward pass, and backward pass to the vectors of the texts. Returns these vectors and the logits' gradients."""
        space, size = self.workspace, len(chosen)
        vectors, errors = space.vectors[:size], space.errors[:size]
        steps.text_gradients(
            space.unit_slots,
            space.log_counts,
            bounds,
            states,
            scores,
            self.state[HEAD],
            self.state.get(HEAD_BIAS, self.bias),
            by_output(texts.labels),
            NO_WEIGHTS if texts.weights is None else texts.weights,
            chosen,
            self.objective.kind,
            space.weights,
            vectors,
            errors,
            space.vector_gradients,
            space.vector_dots,
            space.losses,
            batch,
        )
        return vectors, errors

    def steps(
        self, texts: UnitTexts, batches: Sequence[NDArray[np.int64]], rates: Sequence[float], dropout: float, seed: int
    ) -> float:
        """One step per batch. Returns the sum of the losses before each."""
        if not self.is_plain or self.objective.vtw:
            taken = zip(batches, rates, strict=True)
            return sum(self.step(texts, batch, rate, dropout, seed) for batch, rate in taken)
        if not batches:
            return 0.0
        order, sizes = np.concatenate(batches), np.array([len(batch) for batch in batches])
        ends: NDArray[np.int64] = np.cumsum(sizes, dtype=np.int64)
        units = np.add.reduceat(texts.offsets[order + 1] - texts.offsets[order], ends - sizes)
        self.make_space(int(units.max()), int(sizes.max()))
        weights = self.as_weights(self.state)
        gradients = Weights(weights.table[:0], *(np.empty_like(value) for value in weights[1:]))
        loss = steps.train_batches(
            texts.ids,
            texts.counts,
            texts.offsets,
            by_output(texts.labels),
            NO_WEIGHTS if texts.weights is None else texts.weights,
            order,
            ends,
            np.array(rates, dtype=np.float64),
            dropout,
            np.uint64(seed),
            self.clock + 1,
            self.marks,
            weights,
            self.as_weights(self.squares) if self.squares else weights,
            HEAD_BIAS in self.state,
            self.objective.scale,
            self.objective.kind,
            self.objective.l2,
            self.method,
            self.workspace,
            gradients,
        )
        self.clock += len(batches)
        return loss

    def as_weights(self, state: State) -> Weights:
        return Weights(state[EMBEDDING], state[QUERY], state[HEAD], state.get(HEAD_BIAS, self.bias))

    def step(self, texts: UnitTexts, chosen: NDArray[np.int64], rate: float, dropout: float, seed: int) -> float:
        """Take one step. Returns the sum of the losses before it."""
        loss, rows, gradients = self.gradient(texts, chosen, dropout, seed)
        table, squares = self.state[EMBEDDING], self.squares.get(EMBEDDING, self.state[EMBEDDING])
        steps.update_rows(table, squares, rows, gradients[EMBEDDING], rate, self.objective.l2, self.method)
        self.update_others([gradients], rate)
        return loss

    def update_others(self, parts: list[State], rate: float) -> None:
        """Update all weights but the embeddings with the sum of the parts' gradients."""
        for name in parts[0]:
            if name == EMBEDDING:
                continue
            weight = self.state[name]
            gradient = sum((part[name] for part in parts[1:]), parts[0][name]) + self.objective.l2 * weight
            if self.method == steps.ADAGRAD:
                self.squares[name] += gradient * gradient
                gradient = gradient / (np.sqrt(self.squares[name]) + steps.EPSILON)
            weight -= (rate * gradient).astype(weight.dtype)
