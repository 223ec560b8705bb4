"""A training step that touches only the rows a batch uses.

The rows of a batch are gathered once, whatever texts they stand in, with one attention score each. (S states, a scores of
the gathered rows; α weights; h = Σ α S; g(x) the gradient by x.)

    g(S_r) += α_j g(h),    g(a_r) += α_j (S_r − h)·g(h)       for every unit j of every text that is row r

A batch may be cut into parts whose gradients are taken side by side. `move_merged` adds them up row by row, each thread for the
rows that it owns, always in the order of the parts: the result does not depend on how many threads there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

# sums may be reordered for the sake of vectors; what is no number must stay none, for it tells of divergence
LOOSE = {"reassoc", "contract", "arcp", "nsz"}
compiled = numba.njit(cache=True, nogil=True, fastmath=LOOSE, error_model="numpy")  # no check of every division
inner = numba.njit(fastmath=LOOSE, error_model="numpy")

BINARY, MULTICLASS, REGRESSION = 0, 1, 2
KINDS = {"binary": BINARY, "multiclass": MULTICLASS, "regression": REGRESSION}  # of tasks
ADAGRAD, SGD = 0, 1
EPSILON = 1e-10  # of Adagrad, as in PyTorch

Ids = NDArray[np.int32]
Places = NDArray[np.int64]
Floats = NDArray[np.floating]


class Room(NamedTuple):
    """What a step needs to write on; longer than a batch needs, and used again from step to step."""

    rows: Ids  # the batch's different units
    unit_slots: Ids  # for each unit, its place among them
    extra: Floats  # and log(count)
    weights: Floats
    embedded: Floats  # (rows, E)
    scores: Floats  # a row
    by_state: Floats  # (rows, D)
    by_score: Floats
    bounds: Places  # where each text's units begin
    vectors: Floats  # (texts, D)
    back: Floats  # (texts, D)
    errors: Floats  # (texts, C)
    against: Floats
    losses: NDArray[np.float64]


@inner
def chance(seed: np.uint64, place: int) -> float:
    """A number in [0, 1) that depends on seed and place alone (SplitMix64)."""
    z = seed + np.uint64(place) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@compiled
def collect(
    ids: Ids,
    counts: NDArray[np.uint16],
    offsets: Places,
    texts: Places,
    dropout: float,
    seed: np.uint64,
    clock: int,
    stamps: Ids,
    slots: Ids,
    rows: Ids,
    unit_slots: Ids,
    extra: Floats,
    bounds: Places,
) -> int:
    """The units of these texts, each with its slot among the rows of the batch and log(count); how many rows there are.

    A unit is left out with the chance `dropout`, but never all units of a text.
    """
    size, found = 0, 0
    for place in range(len(texts)):
        low, high = offsets[texts[place]], offsets[texts[place] + 1]
        start = size
        for turn in range(2):
            for at in range(low, high):
                if turn == 0 and dropout > 0 and chance(seed, at) < dropout:
                    continue
                unit = ids[at]
                if stamps[unit] != clock:
                    stamps[unit], slots[unit] = clock, found
                    rows[found] = unit
                    found += 1
                unit_slots[size] = slots[unit]
                extra[size] = np.log(float(counts[at])) if counts[at] > 1 else 0.0
                size += 1
            if size > start:
                break
        bounds[place + 1] = size
    return found


@compiled
def gather(table: Floats, rows: Ids, out: Floats) -> None:
    for r in range(len(rows)):
        row = table[rows[r]]
        for k in range(table.shape[1]):
            out[r, k] = row[k]


@compiled
def score(states: Floats, query: Floats, scale: float, scores: Floats) -> None:
    """a = S V / λ"""
    factor = states.dtype.type(1 / scale)
    for r in range(len(states)):
        total = states.dtype.type(0)
        for k in range(states.shape[1]):
            total += states[r, k] * query[k]
        scores[r] = total * factor


@compiled
def read(
    unit_slots: Ids,
    extra: Floats,
    bounds: Places,
    states: Floats,
    scores: Floats,
    head: Floats,
    bias: Floats,
    labels: Floats,
    kind: int,
    weights: Floats,
    vectors: Floats,
    errors: Floats,
    back: Floats,
    against: Floats,
    losses: NDArray[np.float64],
    size: int,
) -> None:
    """Forward, and back to the text's vector: α, h, g(logits), g(h), h·g(h) and the loss of each text.

    Gradients are those of the sum of losses over `size`, the texts of the whole batch.
    """
    one = states.dtype.type(1)
    texts, width, outputs = len(bounds) - 1, states.shape[1], len(bias)
    share = states.dtype.type(1 / size)
    for text in range(texts):
        low, high = bounds[text], bounds[text + 1]
        h, g = vectors[text], back[text]
        for k in range(width):
            h[k], g[k] = 0, 0
        highest = -np.inf
        for j in range(low, high):
            weights[j] = scores[unit_slots[j]] + extra[j]
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
        losses[text] = error(errors[text], labels[text], kind)
        for c in range(outputs):
            errors[text, c] *= share
            for k in range(width):
                g[k] += errors[text, c] * head[c, k]
        dot = one - one
        for k in range(width):
            dot += g[k] * h[k]
        against[text] = dot


@inner
def error(logits: Floats, label: float, kind: int) -> float:
    """The loss of one text; its gradient by the logits stands in their place."""
    if kind == REGRESSION:
        difference = logits[0] - label
        logits[0] = 2 * difference
        return float(difference * difference)
    if kind == BINARY:
        # log(1 + e^x) − y x, from the side where nothing overflows
        x = float(logits[0])
        tail = np.exp(-abs(x))
        logits[0] = (1 / (1 + tail) if x >= 0 else tail / (1 + tail)) - label
        return float(max(x, 0.0) - x * label + np.log1p(tail))
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


@compiled
def spread(
    unit_slots: Ids,
    bounds: Places,
    states: Floats,
    weights: Floats,
    back: Floats,
    against: Floats,
    state_gradients: Floats,
    score_gradients: Floats,
) -> None:
    """From the texts to the rows."""
    width = states.shape[1]
    rows = len(score_gradients)
    for r in range(rows):
        score_gradients[r] = 0
        for k in range(width):
            state_gradients[r, k] = 0
    for text in range(len(bounds) - 1):
        g = back[text]
        for j in range(bounds[text], bounds[text + 1]):
            slot = unit_slots[j]
            state, own = states[slot], state_gradients[slot]
            dot = states.dtype.type(0)
            weight = weights[j]
            for k in range(width):
                dot += state[k] * g[k]
                own[k] += weight * g[k]
            score_gradients[slot] += weight * (dot - against[text])


@compiled
def look(
    ids: Ids,
    counts: NDArray[np.uint16],
    offsets: Places,
    labels: Floats,
    texts: Places,
    dropout: float,
    seed: np.uint64,
    clock: int,
    stamps: Ids,
    slots: Ids,
    table: Floats,
    query: Floats,
    scale: float,
    head: Floats,
    bias: Floats,
    kind: int,
    batch: int,
    room: Room,
    by_query: Floats,
    by_head: Floats,
    by_bias: Floats,
) -> tuple[int, float]:
    """All of the above for dot scores of the embeddings themselves, in one call: what is done per batch in Python costs time.

    How many rows there are, and the sum of the losses. The rows' gradients stand in `room.by_state`.
    """
    size = len(texts)
    bounds = room.bounds[: size + 1]
    room.bounds[0] = 0
    count = collect(
        ids, counts, offsets, texts, dropout, seed, clock, stamps, slots, room.rows, room.unit_slots, room.extra, bounds
    )
    states, vectors, errors = room.embedded[:count], room.vectors[:size], room.errors[:size]
    gather(table, room.rows[:count], states)
    score(states, query, scale, room.scores)
    made = (room.weights, vectors, errors, room.back, room.against, room.losses)
    read(room.unit_slots, room.extra, bounds, states, room.scores, head, bias, labels[texts], kind, *made, batch)
    by_state, by_score = room.by_state[:count], room.by_score[:count]
    spread(room.unit_slots, bounds, states, room.weights, room.back, room.against, by_state, by_score)
    by_query[:] = 0
    by_head[:] = 0
    by_bias[:] = 0
    inverse = table.dtype.type(1 / scale)
    for r in range(count):
        factor = by_score[r] * inverse
        for k in range(len(query)):
            by_query[k] += factor * states[r, k]
            by_state[r, k] += factor * query[k]
    total = 0.0
    for text in range(size):
        total += room.losses[text]
        for c in range(len(bias)):
            by_bias[c] += errors[text, c]
            for k in range(len(query)):
                by_head[c, k] += errors[text, c] * vectors[text, k]
    return count, total


@compiled
def move_rows(
    table: Floats, squares: Floats, rows: Ids, gradients: Floats, rate: float, decay: float, method: int
) -> None:
    """Adagrad or plain steps on the rows of a table; `decay` is the L2 penalty's factor."""
    step, pull, tiny = table.dtype.type(rate), table.dtype.type(decay), table.dtype.type(EPSILON)
    for r in range(len(rows)):
        row, own, gradient = table[rows[r]], squares[rows[r]], gradients[r]
        if method == SGD:
            for k in range(len(row)):
                row[k] -= step * (gradient[k] + pull * row[k])
        else:
            for k in range(len(row)):
                g = gradient[k] + pull * row[k]
                own[k] += g * g
                row[k] -= step * g / (np.sqrt(own[k]) + tiny)


@compiled
def move_merged(
    table: Floats,
    squares: Floats,
    rows: tuple[Ids, ...],
    gradients: tuple[Floats, ...],
    rate: float,
    decay: float,
    method: int,
    stamps: Ids,
    places: Places,
    clock: int,
    thread: int,
    threads: int,
    own_rows: Ids,
    own_gradients: Floats,
) -> None:
    """The same for several parts, of which a row may stand in more than one: the rows of one thread (of 1, 2, 4, …).

    Sums are made on a page of their own: adding to the parts' gradients in place was slower.
    """
    count = 0
    for p in range(len(rows)):
        for r in range(len(rows[p])):
            row, gradient = rows[p][r], gradients[p][r]
            if row & (threads - 1) != thread:
                continue
            if stamps[row] != clock:
                stamps[row], places[row] = clock, count
                own_rows[count] = row
                into = own_gradients[count]
                for k in range(len(gradient)):
                    into[k] = gradient[k]
                count += 1
            else:
                into = own_gradients[places[row]]
                for k in range(len(gradient)):
                    into[k] += gradient[k]
    move_rows(table, squares, own_rows[:count], own_gradients[:count], rate, decay, method)
