"""Measures against scikit-learn's, and intervals against the textbook."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

from regard.models.tasks import Binary, Multiclass, Regression
from regard.training.metrics import measure, selection_score


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [2, 3, 7])
def test_classes_against_scikit_learn(seed: int, count: int) -> None:
    chance = np.random.default_rng(seed)
    answers = chance.dirichlet(np.ones(count), 50)
    labels = chance.integers(0, count, 50)
    task = Multiclass(tuple(map(str, range(count)))) if count > 2 else Binary(("0", "1"))
    found, said = measure(task, answers, labels.astype(float)), answers.argmax(1)
    every = list(range(count))
    assert found["accuracy"] == pytest.approx(reference.accuracy_score(labels, said))
    assert found["macro_f"] == pytest.approx(reference.f1_score(labels, said, average="macro"))
    assert found["log_loss"] == pytest.approx(reference.log_loss(labels, answers, labels=every))
    assert found["confusion"]["counts"] == reference.confusion_matrix(labels, said, labels=every).tolist()
    precision, recall, f, n = reference.precision_recall_fscore_support(labels, said, labels=every, zero_division=0)
    for place, row in enumerate(found["per_class"].values()):
        assert (row["precision"], row["recall"], row["f"]) == pytest.approx((precision[place], recall[place], f[place]))
        assert row["n"] == n[place]


def test_a_class_that_neither_occurs_nor_is_said_does_not_count() -> None:
    """As in scikit-learn: the mean is over the classes that are there."""
    answers, labels = np.eye(4)[[0, 1, 1, 0]], np.array([0.0, 1.0, 0.0, 0.0])
    found = measure(Multiclass(("a", "b", "c", "d")), answers, labels)
    assert found["macro_f"] == pytest.approx(reference.f1_score(labels, answers.argmax(1), average="macro"))
    assert found["per_class"]["d"] == {"precision": 0, "recall": 0, "f": 0, "n": 0}


def test_an_answer_that_is_surely_wrong_has_a_finite_loss() -> None:
    found = measure(Binary(("a", "b")), np.array([[1.0, 0.0]]), np.array([1.0]))
    assert found["log_loss"] == pytest.approx(-np.log(1e-15))


@pytest.mark.parametrize("seed", range(5))
def test_numbers_against_scikit_learn(seed: int) -> None:
    chance = np.random.default_rng(seed)
    true, said = chance.normal(3, 2, 40), chance.normal(3, 2, 40)
    task = Regression(2.5, 1.75)
    found = measure(task, said[:, None], (true - 2.5) / 1.75)
    assert found["rmse"] == pytest.approx(reference.root_mean_squared_error(true, said))
    assert found["mae"] == pytest.approx(reference.mean_absolute_error(true, said))
    assert found["r2"] == pytest.approx(reference.r2_score(true, said))
    assert found["rmse_of_mean"] == pytest.approx(reference.root_mean_squared_error(true, np.full(40, 2.5)))


def test_one_number_has_no_spread() -> None:
    assert measure(Regression(0, 1), np.array([[1.0]]), np.array([3.0]))["r2"] == 0


def test_what_early_stopping_calls_better() -> None:
    assert selection_score({"accuracy": 0.8, "log_loss": 9.0}) > selection_score({"accuracy": 0.7, "log_loss": 0.1})
    assert selection_score({"accuracy": 0.8, "log_loss": 0.3}) > selection_score({"accuracy": 0.8, "log_loss": 0.4})
    assert selection_score({"rmse": 1.0}) > selection_score({"rmse": 1.1})
