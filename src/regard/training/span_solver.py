"""Logistic regression on features with far more columns than there are texts, by one coefficient per text and output.

The weights that minimise the objective of `linear_solver.py` are a combination of the texts, W = Aᵀ X (the representer theorem),
so they are found without ever being written down: the steps are those of L-BFGS on W and b, but each vector is kept as its
coefficients A (N, C) and its image K A under K = X Xᵀ, which gives inner products: ⟨A, B⟩ = Σ A ∘ (K B). A step costs one product
with K.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.training.linear_solver import ITERATIONS, MEMORY, SUFFICIENT, Linear, Problem, loss_and_errors

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


class Span(NamedTuple):
    """A problem, and the penalty of its mean loss."""

    problem: Problem
    gram: Callable[[Doubles], Doubles]
    penalty: float

    def value(self, point: Point) -> tuple[float, Doubles]:
        """The objective, and the gradient of the loss with respect to the logits."""
        value, errors = loss_and_errors(self.problem, point.image + point.bias)
        return value + 0.5 * self.penalty * float(np.vdot(point.coefficients, point.image)), errors

    def gradient(self, point: Point, errors: Doubles) -> Point:
        return Point(
            errors + self.penalty * point.coefficients,
            self.gram(errors) + self.penalty * point.image,
            errors.sum(0),
        )


def fit_in_span(problem: Problem, features: Spans, strength: float) -> Linear:
    texts, outputs = problem.targets.shape
    zeros = np.zeros((texts, outputs))
    point = minimised(
        Span(problem, features.gram(outputs), 1 / (strength * texts)), Point(zeros, zeros.copy(), np.zeros(outputs))
    )
    return Linear(point.coefficients.T @ features, point.bias)


def minimised(span: Span, point: Point) -> Point:
    """L-BFGS with backtracking."""
    value, errors = span.value(point)
    gradient = span.gradient(point, errors)
    pairs: list[tuple[Point, Point]] = []  # (step, change of the gradient)
    for _ in range(ITERATIONS):
        size = gradient.dot(gradient) ** 0.5
        if size < TOLERANCE:
            break
        direction = curved(gradient, pairs).times(-1.0)
        slope, length = direction.dot(gradient), 1.0 if pairs else min(1.0, 1.0 / size)
        while True:
            candidate = point.plus(length, direction)
            new_value, errors = span.value(candidate)
            if new_value <= value + SUFFICIENT * length * slope or length < 1e-10:
                break
            length /= 2
        new_gradient = span.gradient(candidate, errors)
        step, change = direction.times(length), new_gradient.plus(-1.0, gradient)
        point, value, gradient = candidate, new_value, new_gradient
        if step.dot(change) > 1e-12 * change.dot(change):
            pairs = [*pairs, (step, change)][-MEMORY:]
        if length < 1e-10:  # nothing is left to gain in this precision
            break
    return point


def curved(gradient: Point, pairs: list[tuple[Point, Point]]) -> Point:
    """The inverse Hessian, as the pairs approximate it, times the gradient: the two-loop recursion."""
    result, kept = gradient, []
    for step, change in reversed(pairs):
        factor = step.dot(result) / step.dot(change)
        kept.append(factor)
        result = result.plus(-factor, change)
    if pairs:
        step, change = pairs[-1]
        result = result.times(step.dot(change) / change.dot(change))
    for (step, change), factor in zip(pairs, reversed(kept), strict=True):
        result = result.plus(factor - change.dot(result) / step.dot(change), step)
    return result
