"""A flat model in float64, chunk by chunk: vectors and states of units, and the slopes of their attention scores.

    dot        a = hᵀV / λ                       ∂a/∂h = V / λ
    additive   a = tanh(x)ᵀV / λ,  x = P h + b   ∂a/∂h = Pᵀu / λ,  ∂a/∂x = u / λ,  u = (1 − tanh² x) ⊙ V

with h = e, or h = M e. To first order, tanh(x) ≈ x, and u = V (Sun & Lu, supplement, before equation 71).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.errors import InputError
from regard.models.flat import AFFINE, CHUNK, EMBEDDING, HEAD, HEAD_BIAS, PROJECT, PROJECT_BIAS, QUERY

Doubles = NDArray[np.float64]
Numbers = NDArray[np.integer]
AnyState = Mapping[str, NDArray[Any]]  # a state of any precision


class Rows(NamedTuple):
    """R units."""

    numbers: Numbers  # (R,)
    embedded: Doubles  # (R, E) e
    states: Doubles  # (R, D) h
    keys: Doubles  # (R, Q) what V is multiplied with: h, or tanh(x)
    bends: Doubles  # (R, Q) u; for dot attention V
    slopes: Doubles  # (R, D) λ ∂a/∂h


@dataclass(frozen=True)
class Weights:
    """All weights but the embeddings are converted to float64 at once; embeddings when needed."""

    embedding: NDArray[Any]  # (U, E)
    affine: Doubles | None  # M (D, E)
    project: Doubles | None  # P (Q, D)
    project_bias: Doubles | None  # b (Q,)
    query: Doubles  # V
    head: Doubles  # Wᵀ (K, D)
    bias: Doubles  # (K,)
    scale: float  # λ
    straight: bool = False  # tanh(x) approximated by x

    @classmethod
    def of(cls, state: AnyState, scale: float, straight: bool = False) -> Weights:
        missing = [name for name in (EMBEDDING, QUERY, HEAD) if name not in state]
        if missing:
            raise InputError(
                f"state: no {missing[0]!r} among its weights; expected those of a flat attention model: embeddings, "
                "optionally an affine layer, dot or additive attention, a linear head"
            )
        if not scale > 0:
            raise InputError(f"scale: expected λ above 0, got {scale:g}")

        def double(name: str) -> Doubles | None:
            return state[name].astype(np.float64) if name in state else None

        head = state[HEAD].astype(np.float64)
        bias = double(HEAD_BIAS)
        return cls(
            state[EMBEDDING],
            double(AFFINE),
            double(PROJECT),
            double(PROJECT_BIAS),
            state[QUERY].astype(np.float64),
            head,
            np.zeros(len(head)) if bias is None else bias,
            float(scale),
            straight,
        )

    def rows(self, numbers: Numbers) -> Iterator[Rows]:
        """These units, chunk by chunk; without units, one empty chunk."""
        for start in range(0, max(len(numbers), 1), CHUNK):
            yield self.look(numbers[start : start + CHUNK])

    def look(self, numbers: Numbers) -> Rows:
        embedded = self.embedding[numbers].astype(np.float64)
        states = embedded if self.affine is None else embedded @ self.affine.T
        if self.project is None:
            same = np.broadcast_to(self.query, states.shape)
            return Rows(numbers, embedded, states, states, same, same)
        x = states @ self.project.T
        if self.project_bias is not None:
            x += self.project_bias
        if self.straight:
            same = np.broadcast_to(self.query, x.shape)
            slopes = np.broadcast_to(self.query @ self.project, states.shape)
            return Rows(numbers, embedded, states, x, same, slopes)
        small = np.exp(-2 * np.abs(x))
        bends = 4 * small / (1 + small) ** 2 * self.query  # 1 − tanh² would lose precision where tanh is near ±1
        return Rows(numbers, embedded, states, np.tanh(x), bends, bends @ self.project)

    def back(self, states: Doubles) -> Doubles:
        """From the space of the states to that of the embeddings: x ↦ Mᵀx for every row x."""
        return states if self.affine is None else states @ self.affine
