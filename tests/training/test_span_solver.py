"""The solver by coefficients of texts finds what the solver by weights finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from regard.training.linear_solver import Loss, Problem, fit_linear
from regard.training.span_solver import fit_in_span

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(30, 200))
CLASSES = (FEATURES[:, :3] + RNG.normal(size=(30, 3))).argmax(1)


class Products:
    """An array that is only multiplied."""

    __array_ufunc__ = None

    def __rmatmul__(self, table: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return table @ FEATURES

    def gram(self, outputs: int) -> Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
        return lambda table: FEATURES @ (FEATURES.T @ table)


@pytest.mark.parametrize("loss", ["softmax", "sigmoid"])
@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weights", [None, RNG.integers(1, 4, 30).astype(np.float64)])
def test_the_weights_are_those_of_the_other_solver(
    loss: Loss, strength: float, weights: np.ndarray[Any, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.training.span_solver.TOLERANCE", 1e-9)
    monkeypatch.setattr("regard.training.linear_solver.TOLERANCE", 1e-9)
    problem = Problem(FEATURES, np.eye(3)[CLASSES], loss, weights)
    expected, found = fit_linear(problem, strength), fit_in_span(problem, Products(), strength)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-4)
    # the biases of a softmax are determined up to a constant
    shift = (found.bias - expected.bias).mean() if loss == "softmax" else 0.0
    np.testing.assert_allclose(found.bias - shift, expected.bias, atol=1e-4)
