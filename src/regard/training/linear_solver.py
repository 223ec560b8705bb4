"""Linear models with an L2 penalty: logistic regression (one sigmoid per output, or softmax) and ridge regression.

    minimise  ½ ‖W‖² + C Σ_i w_i ℓ(W x_i + b, y_i)

as in scikit-learn, so C has the same meaning; the bias is not penalised. Ridge regression has a closed form; the others are
minimised by L-BFGS (Nocedal 1980), which is exact up to its tolerance, because they are convex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Loss = Literal["sigmoid", "softmax", "squares"]

MEMORY = 10  # pairs of steps and changes of the gradient that approximate the curvature
ITERATIONS = 300
TOLERANCE = 1e-4  # largest entry of the gradient of the mean loss
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must reach


class Linear(NamedTuple):
    weights: Doubles  # (C, D)
    bias: Doubles  # (C,)

    def logits(self, features: Any) -> Doubles:
        result: Doubles = features @ self.weights.T + self.bias
        return result


class Problem(NamedTuple):
    features: Any  # (N, D): an array, or what is multiplied like one
    targets: Doubles  # (N, C): 0 or 1 per output, or numbers for "squares"
    loss: Loss
    weights: Doubles | None = None  # (N,) of the texts


def fit_linear(problem: Problem, strength: float, start: Linear | None = None) -> Linear:
    """The model that minimises the above with C = `strength`; `start` only saves time."""
    if problem.loss == "squares":
        return ridge(problem, strength)
    (texts, width), outputs = problem.features.shape, problem.targets.shape[1]
    penalty = 1 / (strength * texts)

    def objective(flat: Doubles) -> tuple[float, Doubles]:
        model = unflat(flat, outputs, width)
        value, errors = loss_and_errors(problem, model.logits(problem.features))
        gradient = np.concatenate((errors.T @ problem.features + penalty * model.weights, errors.sum(0)[:, None]), 1)
        return value + 0.5 * penalty * float((model.weights**2).sum()), gradient.ravel()

    first = Linear(np.zeros((outputs, width)), np.zeros(outputs)) if start is None else start
    return unflat(minimised(objective, np.concatenate((first.weights, first.bias[:, None]), 1).ravel()), outputs, width)


def unflat(flat: Doubles, outputs: int, width: int) -> Linear:
    matrix = flat.reshape(outputs, width + 1)
    return Linear(matrix[:, :-1], matrix[:, -1])


def mean_loss(problem: Problem, model: Linear) -> float:
    return loss_and_errors(problem, model.logits(problem.features))[0]


def loss_and_errors(problem: Problem, logits: Doubles) -> tuple[float, Doubles]:
    """The mean loss, and its gradient with respect to the logits."""
    targets = problem.targets
    if problem.loss == "softmax":
        shifted = logits - logits.max(1, keepdims=True)
        powers = np.exp(shifted)
        totals = powers.sum(1, keepdims=True)
        losses = np.log(totals[:, 0]) - (targets * shifted).sum(1)
        errors = powers / totals - targets
    elif problem.loss == "sigmoid":
        small = np.exp(-np.abs(logits))
        losses = (np.maximum(logits, 0) - targets * logits + np.log1p(small)).sum(1)
        errors = np.where(logits >= 0, 1, small) / (1 + small) - targets
    else:
        errors = logits - targets
        losses = 0.5 * (errors**2).sum(1)
    if problem.weights is not None:
        losses, errors = losses * problem.weights, errors * problem.weights[:, None]
    return float(losses.mean()), errors / len(logits)


def ridge(problem: Problem, strength: float) -> Linear:
    features, targets = problem.features, problem.targets
    weights = np.ones(len(features)) if problem.weights is None else problem.weights
    middle, mean = weights @ features / weights.sum(), weights @ targets / weights.sum()
    centred, rest = features - middle, targets - mean
    weighted = centred * weights[:, None]
    gram = strength * weighted.T @ centred + np.eye(features.shape[1])
    solved = np.linalg.solve(gram, strength * weighted.T @ rest).T  # (C, D)
    return Linear(solved, mean - solved @ middle)


def minimised(objective: Callable[[Doubles], tuple[float, Doubles]], point: Doubles) -> Doubles:
    """L-BFGS with backtracking."""
    value, gradient = objective(point)
    pairs: list[tuple[Doubles, Doubles]] = []  # (step, change of the gradient)
    for _ in range(ITERATIONS):
        if np.abs(gradient).max() < TOLERANCE:
            break
        direction = -curved(gradient, pairs)
        slope, length = float(direction @ gradient), 1.0
        if not pairs:
            length = min(1.0, 1.0 / float(np.abs(gradient).sum()))
        while True:
            candidate = point + length * direction
            new_value, new_gradient = objective(candidate)
            if new_value <= value + SUFFICIENT * length * slope or length < 1e-10:
                break
            length /= 2
        step, change = candidate - point, new_gradient - gradient
        point, value, gradient = candidate, new_value, new_gradient
        if float(step @ change) > 1e-12 * float(change @ change):
            pairs = [*pairs, (step, change)][-MEMORY:]
        if length < 1e-10:  # nothing is left to gain in this precision
            break
    return point


def curved(gradient: Doubles, pairs: list[tuple[Doubles, Doubles]]) -> Doubles:
    """The inverse Hessian, as the pairs approximate it, times the gradient: the two-loop recursion."""
    result, kept = gradient.copy(), []
    for step, change in reversed(pairs):
        factor = float(step @ result) / float(step @ change)
        kept.append(factor)
        result -= factor * change
    if pairs:
        step, change = pairs[-1]
        result *= float(step @ change) / float(change @ change)
    for (step, change), factor in zip(pairs, reversed(kept), strict=True):
        result += (factor - float(change @ result) / float(step @ change)) * step
    return result
