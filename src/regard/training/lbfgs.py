"""L-BFGS with backtracking (Nocedal 1980), for any vectors that can be added and have an inner product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

MEMORY = 10  # pairs of steps and changes of the gradient that approximate the curvature
ITERATIONS = 300
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must reach
SHORTEST = 1e-10  # share of a step below which nothing is left to gain in this precision


class Vector(Protocol):
    def plus(self, factor: float, other: Self) -> Self:
        """self + factor · other"""

    def times(self, factor: float) -> Self: ...

    def dot(self, other: Self) -> float: ...

    def is_small(self) -> bool:
        """Whether a gradient is small enough to stop at."""

    def length(self) -> float:
        """Of the first gradient, which says nothing about the curvature: the first step is at most 1 long."""


AnyVector = TypeVar("AnyVector", bound=Vector)
Objective = Callable[[AnyVector], tuple[float, Callable[[], AnyVector]]]


def minimised(objective: Objective[AnyVector], point: AnyVector) -> AnyVector:
    """`objective`: the value at a point, and a function for the gradient there, which is called at accepted points only."""
    value, gradient_there = objective(point)
    gradient = gradient_there()
    pairs: list[tuple[AnyVector, AnyVector]] = []  # (step, change of the gradient)
    for _ in range(ITERATIONS):
        if gradient.is_small():
            break
        direction = curved(gradient, pairs).times(-1.0)
        slope = direction.dot(gradient)
        share = 1.0 if pairs else min(1.0, 1.0 / gradient.length())
        while True:
            candidate = point.plus(share, direction)
            new_value, gradient_there = objective(candidate)
            if new_value <= value + SUFFICIENT * share * slope or share < SHORTEST:
                break
            share /= 2
        new_gradient = gradient_there()
        step, change = candidate.plus(-1.0, point), new_gradient.plus(-1.0, gradient)
        point, value, gradient = candidate, new_value, new_gradient
        if step.dot(change) > 1e-12 * change.dot(change):
            pairs = [*pairs, (step, change)][-MEMORY:]
        if share < SHORTEST:
            break
    return point


def curved(gradient: AnyVector, pairs: list[tuple[AnyVector, AnyVector]]) -> AnyVector:
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
