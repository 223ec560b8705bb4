"""Training steps that touch only the embedding rows that a batch uses.

The rows of a batch are gathered once, however many texts they occur in, with one attention score each. (S: states and
a: scores of the gathered rows, α: weights, h = Σ α S, g(x): the gradient with respect to x.)

    g(S_r) += α_j g(h),    g(a_r) += α_j (S_r − h)·g(h)       for every unit j of every text whose row is r

A batch may be split into parts whose gradients are computed in parallel. `update_merged` adds them up row by row, each
thread for the rows that it owns, always in the order of the parts, so the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.kernels import compiling
from regard.kernels.prefetching import AHEAD, prefetch

# sums may be reordered for vectorisation, but NaN must survive: it reveals divergence
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}
compiled = compiling.compiled(fastmath=FASTMATH, error_model="numpy")  # no check for division by zero
inner = compiling.inner(fastmath=FASTMATH, error_model="numpy")

BINARY, MULTICLASS, REGRESSION, MULTILABEL = 0, 1, 2, 3
KINDS = {"binary": BINARY, "multiclass": MULTICLASS, "regression": REGRESSION, "multilabel": MULTILABEL}  # of tasks
ADAGRAD, SGD = 0, 1
EPSILON = 1e-10  # of Adagrad, as in PyTorch
LOW_BITS = (1 << 32) - 1

Ids = NDArray[np.int32]
Int64s = NDArray[np.int64]
Floats = NDArray[np.floating]


class Workspace(NamedTuple):
    """Buffers of a step, at least as long as the batch needs and reused from step to step."""

    rows: Ids  # the distinct units of the batch
    unit_slots: Ids  # the index of each unit among them
    log_counts: Floats  # log(count) of each unit
    weights: Floats
    embedded: Floats  # (rows, E)
    scores: Floats  # (rows,)
    by_state: Floats  # (rows, D)
    by_score: Floats
    bounds: Int64s  # offsets of the units of each text
    vectors: Floats  # (texts, D)
    vector_gradients: Floats  # (texts, D)
    errors: Floats  # (texts, C)
    vector_dots: Floats
    losses: NDArray[np.float64]


class Weights(NamedTuple):
    """Those of a model with dot scores of the embeddings themselves, or Adagrad's sums of them."""

    table: Floats  # (units, E)
    query: Floats  # (E,)
    head: Floats  # (C, E)
    bias: Floats  # (C,) zeros if the head has none


@inner
def random_uniform(seed: np.uint64, position: int) -> float:
    """A number in [0, 1) that depends only on the seed and the position (SplitMix64)."""
    z = seed + np.uint64(position) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@inner
def _collect(
    ids: Ids,
    counts: NDArray[np.uint16],
    offsets: Int64s,
    texts: Int64s,
    dropout: float,
    seed: np.uint64,
    clock: int,
    marks: Int64s,
    rows: Ids,
    unit_slots: Ids,
    log_counts: Floats,
    bounds: Int64s,
) -> int:
    """Collect the units of these texts, each with its row in the batch and log(count); return the number of rows.

    A unit is dropped with probability `dropout`, but never all units of a text. `marks` has the clock of the last batch that
    used a unit, and its row there: in one number, because either would be another random access to memory.
    """
    size, row_count = 0, 0
    for position in range(len(texts)):
        low, high = offsets[texts[position]], offsets[texts[position] + 1]
        start = size
        for attempt in range(2):
            for index in range(low, high):
                if attempt == 0 and dropout > 0 and random_uniform(seed, index) < dropout:
                    continue
                unit = ids[index]
                if index + 2 * AHEAD < high:
                    prefetch(marks, ids[index + 2 * AHEAD])
                mark = marks[unit]
                slot = mark & LOW_BITS
                if mark >> 32 != clock:
                    slot = row_count
                    marks[unit] = (clock << 32) | slot
                    rows[row_count] = unit
                    row_count += 1
                unit_slots[size] = slot
                log_counts[size] = np.log(float(counts[index])) if counts[index] > 1 else 0.0
                size += 1
            if size > start:
                break
        bounds[position + 1] = size
    return row_count


@inner
def _gather(table: Floats, rows: Ids, out: Floats) -> None:
    for r in range(len(rows)):
        if r + AHEAD < len(rows):
            prefetch(table, rows[r + AHEAD])
        row = table[rows[r]]
        for k in range(table.shape[1]):
            out[r, k] = row[k]


@inner
def score(states: Floats, query: Floats, scale: float, scores: Floats) -> None:
    """a = S V / λ"""
    factor = states.dtype.type(1 / scale)
    for r in range(len(states)):
        total = states.dtype.type(0)
        for k in range(states.shape[1]):
            total += states[r, k] * query[k]
        scores[r] = total * factor


@inner
def _text_gradients(
    unit_slots: Ids,
    log_counts: Floats,
    bounds: Int64s,
    states: Floats,
    scores: Floats,
    head: Floats,
    bias: Floats,
    labels: Floats,  # (texts, 1), or (texts, C) for several labels per text
    loss_weights: Floats,
    chosen: Int64s,  # the rows of the texts in both
    kind: int,
    weights: Floats,
    vectors: Floats,
    errors: Floats,
    vector_gradients: Floats,
    vector_dots: Floats,
    losses: NDArray[np.float64],
    size: int,
) -> None:
    """Forward pass, and backward to the vector of each text: α, h, g(logits), g(h), h·g(h) and the loss.

    Gradients are those of the summed loss divided by `size`, the number of texts in the whole batch. `loss_weights` has the
    factor of each text's loss, so that 2 counts like two equal texts; none if all are 1.
    """
    one = states.dtype.type(1)
    texts, width, outputs = len(bounds) - 1, states.shape[1], len(bias)
    share = states.dtype.type(1 / size)
    for text in range(texts):
        low, high = bounds[text], bounds[text + 1]
        h, g = vectors[text], vector_gradients[text]
        for k in range(width):
            h[k], g[k] = 0, 0
        highest = -np.inf
        for j in range(low, high):
            weights[j] = scores[unit_slots[j]] + log_counts[j]
            highest = max(highest, weights[j])
        total = states.dtype.type(0)
        for j in range(low, high):
            weights[j] = np.exp(weights[j] - states.dtype.type(highest))
            total += weights[j]
        for j in range(low, high):
            weights[j] /= total
            state = states[unit_slots[j]]
            for k in range(width):
                h[k] += weights[j] * state[k]
        for c in range(outputs):
            logit = bias[c]
            for k in range(width):
                logit += head[c, k] * h[k]
            errors[text, c] = logit
        losses[text] = loss_and_gradient(errors[text], labels[chosen[text]], kind)
        factor = share
        if len(loss_weights):
            factor = share * states.dtype.type(loss_weights[chosen[text]])
            losses[text] *= loss_weights[chosen[text]]
        for c in range(outputs):
            errors[text, c] *= factor
            for k in range(width):
                g[k] += errors[text, c] * head[c, k]
        dot = one - one
        for k in range(width):
            dot += g[k] * h[k]
        vector_dots[text] = dot


@inner
def loss_and_gradient(logits: Floats, labels: Floats, kind: int) -> float:
    """The loss of one text; `logits` are overwritten with its gradient with respect to them.

    `labels`: 1 or 0 for each of several labels, whose losses are summed; otherwise the only label.
    """
    if kind == MULTILABEL:
        total = 0.0
        for c in range(len(logits)):
            x, exponential = float(logits[c]), np.exp(-abs(float(logits[c])))
            logits[c] = (1 / (1 + exponential) if x >= 0 else exponential / (1 + exponential)) - labels[c]
            total += max(x, 0.0) - x * labels[c] + np.log1p(exponential)
        return total
    label = labels[0]
    if kind == REGRESSION:
        difference = logits[0] - label
        logits[0] = 2 * difference
        return float(difference * difference)
    if kind == BINARY:
        # log(1 + e^x) − y x, in the form that does not overflow
        x = float(logits[0])
        exponential = np.exp(-abs(x))
        logits[0] = (1 / (1 + exponential) if x >= 0 else exponential / (1 + exponential)) - label
        return float(max(x, 0.0) - x * label + np.log1p(exponential))
    highest = logits[0]
    for c in range(1, len(logits)):
        highest = max(highest, logits[c])
    total = 0.0
    true = float(logits[int(label)] - highest)
    for c in range(len(logits)):
        logits[c] = np.exp(logits[c] - highest)
        total += logits[c]
    for c in range(len(logits)):
        logits[c] /= total
    logits[int(label)] -= 1
    return float(np.log(total) - true)


@inner
def _row_gradients(
    unit_slots: Ids,
    bounds: Int64s,
    states: Floats,
    weights: Floats,
    vector_gradients: Floats,
    vector_dots: Floats,
    state_gradients: Floats,
    score_gradients: Floats,
) -> None:
    """Backward from the vectors of the texts to the states and scores of the rows."""
    width = states.shape[1]
    rows = len(score_gradients)
    for r in range(rows):
        score_gradients[r] = 0
        for k in range(width):
            state_gradients[r, k] = 0
    for text in range(len(bounds) - 1):
        g = vector_gradients[text]
        for j in range(bounds[text], bounds[text + 1]):
            slot = unit_slots[j]
            state, state_gradient = states[slot], state_gradients[slot]
            dot = states.dtype.type(0)
            weight = weights[j]
            for k in range(width):
                dot += state[k] * g[k]
                state_gradient[k] += weight * g[k]
            score_gradients[slot] += weight * (dot - vector_dots[text])


@inner
def _batch_gradients(
    ids: Ids,
    counts: NDArray[np.uint16],
    offsets: Int64s,
    labels: Floats,  # (texts, 1), or (texts, C) for several labels per text
    loss_weights: Floats,
    texts: Int64s,
    dropout: float,
    seed: np.uint64,
    clock: int,
    marks: Int64s,
    table: Floats,
    query: Floats,
    scale: float,
    head: Floats,
    bias: Floats,
    kind: int,
    batch: int,
    space: Workspace,
    by_query: Floats,
    by_head: Floats,
    by_bias: Floats,
) -> tuple[int, float]:
    """All of the above for dot scores of the embeddings themselves.

    Returns the number of rows and the sum of the losses. The gradients of the rows are in `space.by_state`.
    """
    size = len(texts)
    bounds = space.bounds[: size + 1]
    space.bounds[0] = 0
    count = _collect(
        ids,
        counts,
        offsets,
        texts,
        dropout,
        seed,
        clock,
        marks,
        space.rows,
        space.unit_slots,
        space.log_counts,
        bounds,
    )
    states, vectors, errors = space.embedded[:count], space.vectors[:size], space.errors[:size]
    _gather(table, space.rows[:count], states)
    score(states, query, scale, space.scores)
    buffers = (space.weights, vectors, errors, space.vector_gradients, space.vector_dots, space.losses)
    _text_gradients(
        space.unit_slots,
        space.log_counts,
        bounds,
        states,
        space.scores,
        head,
        bias,
        labels,
        loss_weights,
        texts,
        kind,
        *buffers,
        batch,
    )
    by_state, by_score = space.by_state[:count], space.by_score[:count]
    _row_gradients(
        space.unit_slots, bounds, states, space.weights, space.vector_gradients, space.vector_dots, by_state, by_score
    )
    for k in range(len(query)):  # assigning to a slice takes long to compile
        by_query[k] = 0
    for c in range(len(bias)):
        by_bias[c] = 0
        for k in range(len(query)):
            by_head[c, k] = 0
    inverse = table.dtype.type(1 / scale)
    for r in range(count):
        factor = by_score[r] * inverse
        for k in range(len(query)):
            by_query[k] += factor * states[r, k]
            by_state[r, k] += factor * query[k]
    total = 0.0
    for text in range(size):
        total += space.losses[text]
        for c in range(len(bias)):
            by_bias[c] += errors[text, c]
            for k in range(len(query)):
                by_head[c, k] += errors[text, c] * vectors[text, k]
    return count, total


@inner
def _update_rows(
    table: Floats, squares: Floats, rows: Ids, gradients: Floats, rate: float, decay: float, method: int
) -> None:
    """Adagrad or SGD steps on the rows of a table; `decay` is the factor of the L2 penalty."""
    step, penalty, tiny = table.dtype.type(rate), table.dtype.type(decay), table.dtype.type(EPSILON)
    for r in range(len(rows)):
        if r + AHEAD < len(rows):
            prefetch(table, rows[r + AHEAD])
            prefetch(squares, rows[r + AHEAD])
        row, square, gradient = table[rows[r]], squares[rows[r]], gradients[r]
        if method == SGD:
            for k in range(len(row)):
                row[k] -= step * (gradient[k] + penalty * row[k])
        else:
            for k in range(len(row)):
                g = gradient[k] + penalty * row[k]
                square[k] += g * g
                row[k] -= step * g / (np.sqrt(square[k]) + tiny)


@inner
def _update_dense(weight: Floats, square: Floats, gradient: Floats, rate: float, decay: float, method: int) -> None:
    """The same for weights of which every batch uses all."""
    step, penalty, tiny = weight.dtype.type(rate), weight.dtype.type(decay), weight.dtype.type(EPSILON)
    for k in range(len(weight)):
        g = gradient[k] + penalty * weight[k]
        if method == SGD:
            weight[k] -= step * g
        else:
            square[k] += g * g
            weight[k] -= step * g / (np.sqrt(square[k]) + tiny)


@compiled
def train_batches(
    ids: Ids,
    counts: NDArray[np.uint16],
    offsets: Int64s,
    labels: Floats,
    loss_weights: Floats,
    order: Int64s,  # the rows of all batches
    ends: Int64s,  # where each batch ends in them
    rates: NDArray[np.float64],
    dropout: float,
    seed: np.uint64,
    clock: int,
    marks: Int64s,
    weights: Weights,
    squares: Weights,
    has_bias: bool,
    scale: float,
    kind: int,
    decay: float,
    method: int,
    space: Workspace,
    gradients: Weights,
) -> float:
    """Steps with dot scores of the embeddings themselves, in one call, because Python code per batch costs time.

    Returns the sum of the losses before each. `clock` is that of the first batch; the table of `gradients` is not used.
    """
    total, start = 0.0, 0
    for batch in range(len(ends)):
        texts = order[start : ends[batch]]
        start = ends[batch]
        count, loss = _batch_gradients(
            ids,
            counts,
            offsets,
            labels,
            loss_weights,
            texts,
            dropout,
            seed,
            clock + batch,
            marks,
            weights.table,
            weights.query,
            scale,
            weights.head,
            weights.bias,
            kind,
            len(texts),
            space,
            gradients.query,
            gradients.head,
            gradients.bias,
        )
        total += loss
        rate = rates[batch]
        _update_rows(weights.table, squares.table, space.rows[:count], space.by_state, rate, decay, method)
        _update_dense(weights.query, squares.query, gradients.query, rate, decay, method)
        for c in range(len(weights.head)):
            _update_dense(weights.head[c], squares.head[c], gradients.head[c], rate, decay, method)
        if has_bias:
            _update_dense(weights.bias, squares.bias, gradients.bias, rate, decay, method)
    return total


@compiled
def update_merged(
    table: Floats,
    squares: Floats,
    rows: tuple[Ids, ...],
    gradients: tuple[Floats, ...],
    rate: float,
    decay: float,
    method: int,
    stamps: Ids,
    slots: Int64s,
    clock: int,
    thread: int,
    threads: int,
    merged_rows: Ids,
    merged_gradients: Floats,
) -> None:
    """The same for several parts, which may share rows, restricted to the rows of one of `threads` (1, 2, 4, …) threads.

    Sums go to separate buffers: adding to the gradients of the parts in place was slower.
    """
    count = 0
    for p in range(len(rows)):
        for r in range(len(rows[p])):
            row, gradient = rows[p][r], gradients[p][r]
            if row & (threads - 1) != thread:
                continue
            if stamps[row] != clock:
                stamps[row], slots[row] = clock, count
                merged_rows[count] = row
                target = merged_gradients[count]
                for k in range(len(gradient)):
                    target[k] = gradient[k]
                count += 1
            else:
                target = merged_gradients[slots[row]]
                for k in range(len(gradient)):
                    target[k] += gradient[k]
    _update_rows(table, squares, merged_rows[:count], merged_gradients[:count], rate, decay, method)


# For callers in Python, each compiled when it is first used: training with dot scores of the embeddings uses only the first.
batch_gradients = compiled(_batch_gradients)
collect, gather = compiled(_collect), compiled(_gather)
text_gradients, row_gradients = compiled(_text_gradients), compiled(_row_gradients)
update_rows = compiled(_update_rows)
