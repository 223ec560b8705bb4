"""Linear models against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from regard.training.linear_solver import Problem, fit_linear, mean_loss

pytest.importorskip("sklearn")
from sklearn.linear_model import LogisticRegression, Ridge

RNG = np.random.default_rng(0)
FEATURES = RNG.normal(size=(80, 7))
TRUE = RNG.normal(size=(3, 7))
CLASSES = (FEATURES @ TRUE.T + RNG.normal(size=(80, 3))).argmax(1)
WEIGHTS = RNG.integers(1, 4, 80).astype(np.float64)


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_softmax_is_multinomial_logistic_regression(strength: float, weights: np.ndarray | None) -> None:
    peer = LogisticRegression(C=strength, max_iter=5000, tol=1e-10).fit(FEATURES, CLASSES, weights)
    model = fit_linear(Problem(FEATURES, np.eye(3)[CLASSES], "softmax", weights), strength)
    np.testing.assert_allclose(model.weights, peer.coef_, atol=0.01 * max(1, np.abs(peer.coef_).max()))
    ours, theirs = model.logits(FEATURES), peer.decision_function(FEATURES)
    centred = [one - one.mean(1, keepdims=True) for one in (ours, theirs)]
    np.testing.assert_allclose(*centred, atol=0.02 * np.abs(centred[1]).max())


@pytest.mark.parametrize("strength", [0.01, 1.0])
def test_sigmoid_is_logistic_regression_for_each_output(strength: float) -> None:
    targets = np.stack((CLASSES == 0, CLASSES == 1), 1).astype(np.float64)
    model = fit_linear(Problem(FEATURES, targets, "sigmoid"), strength)
    for column in range(2):
        peer = LogisticRegression(C=strength, max_iter=5000, tol=1e-10).fit(FEATURES, targets[:, column])
        np.testing.assert_allclose(model.weights[column], peer.coef_[0], atol=5e-3)
        np.testing.assert_allclose(model.bias[column], peer.intercept_[0], atol=5e-3)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_squares_are_ridge_regression(weights: np.ndarray | None) -> None:
    numbers = FEATURES @ TRUE[0] + 3
    model = fit_linear(Problem(FEATURES, numbers[:, None], "squares", weights), 0.5)
    peer = Ridge(alpha=2.0).fit(FEATURES, numbers, weights)
    np.testing.assert_allclose(model.weights[0], peer.coef_, atol=1e-9)
    np.testing.assert_allclose(model.bias[0], peer.intercept_, atol=1e-9)


def test_a_start_changes_only_the_time() -> None:
    problem = Problem(FEATURES, np.eye(3)[CLASSES], "softmax")
    start = fit_linear(problem, 0.01)
    np.testing.assert_allclose(fit_linear(problem, 1.0, start).weights, fit_linear(problem, 1.0).weights, atol=2e-3)


def test_the_loss_of_equal_logits_is_the_logarithm_of_the_classes() -> None:
    model = fit_linear(Problem(np.zeros((6, 2)), np.eye(3)[[0, 1, 2, 0, 1, 2]], "softmax"), 1.0)
    problem = Problem(np.zeros((6, 2)), np.eye(3)[[0, 1, 2, 0, 1, 2]], "softmax")
    assert mean_loss(problem, model) == pytest.approx(np.log(3))
