"""Linear models with an L2 penalty: logistic regression (one sigmoid per output, or softmax) and ridge regression.

    minimise  ½ ‖W‖² + C Σ_i w_i ℓ(W x_i + b, y_i)

as in scikit-learn, so C has the same meaning; the bias is not penalised. Ridge regression has a closed form; the others are
minimised by L-BFGS, which is exact up to its tolerance, because they are convex.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from regard.training.lbfgs import minimised

Doubles = NDArray[np.float64]
Loss = Literal["sigmoid", "softmax", "squares"]

TOLERANCE = 1e-4  # largest entry of the gradient of the mean loss


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

    def objective(point: Flat) -> tuple[float, Callable[[], Flat]]:
        model = unflat(point.values, outputs, width)
        value, errors = loss_and_errors(problem, model.logits(problem.features))

        def gradient() -> Flat:
            of_weights = errors.T @ problem.features + penalty * model.weights
            return Flat(np.concatenate((of_weights, errors.sum(0)[:, None]), 1).ravel())

        return value + 0.5 * penalty * float((model.weights**2).sum()), gradient

    first = Linear(np.zeros((outputs, width)), np.zeros(outputs)) if start is None else start
    flat = Flat(np.concatenate((first.weights, first.bias[:, None]), 1).ravel())
    return unflat(minimised(objective, flat).values, outputs, width)


class Flat(NamedTuple):
    """Weights and biases side by side."""

    values: Doubles

    def plus(self, factor: float, other: Flat) -> Flat:
        return Flat(self.values + factor * other.values)

    def times(self, factor: float) -> Flat:
        return Flat(factor * self.values)

    def dot(self, other: Flat) -> float:
        return float(self.values @ other.values)

    def is_small(self) -> bool:
        return float(np.abs(self.values).max()) < TOLERANCE

    def length(self) -> float:
        return float(np.abs(self.values).sum())


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
