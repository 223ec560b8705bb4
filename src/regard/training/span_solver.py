"""Logistic regression on features with far more columns than there are texts, by one coefficient per text and output.

The weights that minimise the objective of `linear_solver.py` are a combination of the texts, W = Aᵀ X (the representer theorem),
so they are found without ever being written down: the steps are those of L-BFGS on W and b, but each vector is kept as its
coefficients A (N, C) and its image K A under K = X Xᵀ, which gives inner products: ⟨A, B⟩ = Σ A ∘ (K B). A step costs one product
with K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.training.lbfgs import minimised
from regard.training.linear_solver import Linear, Problem, loss_and_errors

TOLERANCE = 3e-4  # length of the gradient of the mean loss

Doubles = NDArray[np.float64]


class Spans(Protocol):
    """Features (N, D) that are never multiplied out."""

    def __rmatmul__(self, table: Doubles) -> Doubles:
        """(C, N) -> (C, D)"""

    def gram(self, outputs: int) -> Callable[[Doubles], Doubles]:
        """(N, C) -> (N, C): the product with X Xᵀ, for tables with C = `outputs`"""


class Point(NamedTuple):
    """A vector of all weights and biases."""

    coefficients: Doubles  # (N, C)
    image: Doubles  # (N, C) K times the coefficients
    bias: Doubles  # (C,)

    def plus(self, factor: float, other: Point) -> Point:
        return Point(*(one + factor * two for one, two in zip(self, other, strict=True)))

    def times(self, factor: float) -> Point:
        return Point(*(factor * one for one in self))

    def dot(self, other: Point) -> float:
        return float(np.vdot(self.coefficients, other.image) + self.bias @ other.bias)

    def is_small(self) -> bool:
        return self.length() < TOLERANCE

    def length(self) -> float:
        return math.sqrt(self.dot(self))


def fit_in_span(problem: Problem, features: Spans, strength: float) -> Linear:
    texts, outputs = problem.targets.shape
    gram, penalty = features.gram(outputs), 1 / (strength * texts)

    def objective(point: Point) -> tuple[float, Callable[[], Point]]:
        value, errors = loss_and_errors(problem, point.image + point.bias)

        def gradient() -> Point:
            of_image = gram(errors) + penalty * point.image
            return Point(errors + penalty * point.coefficients, of_image, errors.sum(0))

        return value + 0.5 * penalty * float(np.vdot(point.coefficients, point.image)), gradient

    zeros = np.zeros((texts, outputs))
    point = minimised(objective, Point(zeros, zeros, np.zeros(outputs)))
    return Linear(point.coefficients.T @ features, point.bias)
