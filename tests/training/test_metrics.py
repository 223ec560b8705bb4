"""Metrics against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

from regard.models.tasks import Binary, Multiclass, Regression
from regard.training.metrics import measure, selection_score


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [2, 3, 7])
def test_classes_against_scikit_learn(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    answers = rng.dirichlet(np.ones(count), 50)
    labels = rng.integers(0, count, 50)
    task = Multiclass(tuple(map(str, range(count)))) if count > 2 else Binary(("0", "1"))
    metrics, predicted = measure(task, answers, labels.astype(float)), answers.argmax(1)
    classes = list(range(count))
    assert metrics["accuracy"] == pytest.approx(reference.accuracy_score(labels, predicted))
    assert metrics["macro_f"] == pytest.approx(reference.f1_score(labels, predicted, average="macro"))
    assert metrics["log_loss"] == pytest.approx(reference.log_loss(labels, answers, labels=classes))
    assert metrics["confusion"]["counts"] == reference.confusion_matrix(labels, predicted, labels=classes).tolist()
    precision, recall, f, n = reference.precision_recall_fscore_support(
        labels, predicted, labels=classes, zero_division=0
    )
    for number, row in enumerate(metrics["per_class"].values()):
        assert (row["precision"], row["recall"], row["f"]) == pytest.approx(
            (precision[number], recall[number], f[number])
        )
        assert row["n"] == n[number]


def test_macro_f_skips_classes_that_do_not_occur() -> None:
    """As in scikit-learn: the mean is over the classes that occur."""
    answers, labels = np.eye(4)[[0, 1, 1, 0]], np.array([0.0, 1.0, 0.0, 0.0])
    metrics = measure(Multiclass(("a", "b", "c", "d")), answers, labels)
    assert metrics["macro_f"] == pytest.approx(reference.f1_score(labels, answers.argmax(1), average="macro"))
    assert metrics["per_class"]["d"] == {"precision": 0, "recall": 0, "f": 0, "n": 0}


def test_a_certain_wrong_answer_has_a_finite_loss() -> None:
    metrics = measure(Binary(("a", "b")), np.array([[1.0, 0.0]]), np.array([1.0]))
    assert metrics["log_loss"] == pytest.approx(-np.log(1e-15))


@pytest.mark.parametrize("seed", range(5))
def test_numbers_against_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    actual, predicted = rng.normal(3, 2, 40), rng.normal(3, 2, 40)
    task = Regression(2.5, 1.75)
    metrics = measure(task, predicted[:, None], (actual - 2.5) / 1.75)
    assert metrics["rmse"] == pytest.approx(reference.root_mean_squared_error(actual, predicted))
    assert metrics["mae"] == pytest.approx(reference.mean_absolute_error(actual, predicted))
    assert metrics["r2"] == pytest.approx(reference.r2_score(actual, predicted))
    assert metrics["rmse_of_mean"] == pytest.approx(reference.root_mean_squared_error(actual, np.full(40, 2.5)))


def test_r2_of_one_text_is_0() -> None:
    assert measure(Regression(0, 1), np.array([[1.0]]), np.array([3.0]))["r2"] == 0


def test_selection_score() -> None:
    assert selection_score({"accuracy": 0.8, "log_loss": 9.0}) > selection_score({"accuracy": 0.7, "log_loss": 0.1})
    assert selection_score({"accuracy": 0.8, "log_loss": 0.3}) > selection_score({"accuracy": 0.8, "log_loss": 0.4})
    assert selection_score({"rmse": 1.0}) > selection_score({"rmse": 1.1})
