"""Tasks: losses and predictions against values computed by hand, and invalid labels."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import torch

from regard.data.labels import Labels
from regard.errors import InputError
from regard.models.tasks import Binary, Multiclass, Regression, Task, labels_as_shown, make_task, task_from_dict
from regard.records import Example


def examples(*labels: str | float | None) -> list[Example]:
    return [Example("text", label, row) for row, label in enumerate(labels, 1)]


def labelled(*labels: str | float | None) -> Labels:
    return Labels.of(examples(*labels))


def test_binary_by_hand() -> None:
    """σ(log 3) = 3/4, so the losses of labels 1 and 0 are log(4/3) and log 4."""
    task = Binary(("no", "yes"))
    logits = torch.tensor([[math.log(3)], [math.log(3)]])
    loss = task.loss(logits, torch.tensor([1.0, 0.0]))
    assert loss.item() == pytest.approx((math.log(4 / 3) + math.log(4)) / 2)
    np.testing.assert_allclose(task.answers(logits), [[0.25, 0.75]] * 2, rtol=1e-6)
    assert [prediction.value for prediction in task.predictions(task.answers(logits))] == ["yes", "yes"]
    assert task.predictions(np.array([[0.9, 0.1]]))[0].probabilities == {"no": 0.9, "yes": 0.1}


def test_multiclass_by_hand() -> None:
    """Softmax of log 1, log 2, log 5 is 1/8, 2/8, 5/8."""
    task = Multiclass(("a", "b", "c"))
    logits = torch.tensor([[0.0, math.log(2), math.log(5)]] * 2)
    loss = task.loss(logits, torch.tensor([0.0, 2.0]))
    assert loss.item() == pytest.approx((math.log(8) + math.log(8 / 5)) / 2)
    np.testing.assert_allclose(task.answers(logits)[0], [1 / 8, 2 / 8, 5 / 8], rtol=1e-6)
    assert task.predictions(task.answers(logits))[0].value == "c"
    assert task.out_dim == 3


@pytest.mark.parametrize("task", [Binary(("a", "b")), Multiclass(("a", "b", "c")), Regression(0.0, 1.0)])
def test_a_weight_of_two_is_a_text_twice(task: Task) -> None:
    """The sum of the losses is the same; the mean is over the number of texts."""
    logits, labels = torch.randn(3, task.out_dim, generator=torch.manual_seed(0)), torch.tensor([1.0, 0.0, 1.0])
    weighted = task.loss(logits, labels, torch.tensor([2.0, 1.0, 1.0])) * 3
    twice = task.loss(logits[[0, 0, 1, 2]], labels[[0, 0, 1, 2]]) * 4
    assert weighted.item() == pytest.approx(twice.item(), rel=1e-6)
    assert task.loss(logits, labels, torch.ones(3)).item() == pytest.approx(task.loss(logits, labels).item(), rel=1e-6)


def test_regression_by_hand() -> None:
    """2, 4, 9 have mean 5 and variance (9 + 1 + 16) / 3; the model learns standardised values."""
    task = make_task("regression", labelled("2", "4", "9"), "file")
    assert isinstance(task, Regression)
    deviation = math.sqrt(26 / 3)
    assert (task.mean, task.scale) == (5, pytest.approx(deviation))
    encoded = [task.encode(label, "") for label in ("2", "4", "9")]
    assert encoded == pytest.approx([-3 / deviation, -1 / deviation, 4 / deviation])
    assert np.mean(encoded) == pytest.approx(0)
    assert np.std(encoded) == pytest.approx(1)
    logits = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    np.testing.assert_allclose(task.answers(logits), [[5], [5 + deviation]])
    assert task.loss(logits, torch.tensor([1.0, 3.0])).item() == pytest.approx((1 + 4) / 2)
    assert [prediction.value for prediction in task.predictions(np.array([[2.5]]))] == [2.5]


def test_losses_stay_finite_for_huge_logits() -> None:
    huge = torch.tensor([[1e4], [-1e4]])
    assert Binary(("a", "b")).loss(huge, torch.tensor([1.0, 0.0])).item() == 0
    assert Binary(("a", "b")).loss(huge, torch.tensor([0.0, 1.0])).item() == 1e4
    assert np.isfinite(Binary(("a", "b")).answers(huge)).all()
    assert np.isfinite(Multiclass(("a", "b")).answers(torch.tensor([[1e4, -1e4]]))).all()


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (("10", "9", "-1"), ("-1", "9", "10")),
        (("b", "a", "B"), ("B", "a", "b")),
        (("x", "2", "10"), ("2", "10", "x")),
        ((True, False), ("False", "True")),
    ],
)
def test_classes_are_sorted_numerically_then_alphabetically(labels: tuple[str, ...], classes: tuple[str, ...]) -> None:
    task = make_task("multiclass", labelled(*labels), "file")
    assert isinstance(task, Multiclass)
    assert task.classes == classes
    assert [task.encode(name, "") for name in classes] == list(range(len(classes)))


@pytest.mark.parametrize(
    ("kind", "labels", "message"),
    [
        ("binary", ("a", "b", "c"), "file: expected two classes for task = binary, got 3 .'a', 'b', 'c', …."),
        ("binary", ("a", "a"), "file: expected at least two different labels, got only 'a'"),
        ("multiclass", ("a", "a"), "expected at least two different labels"),
        ("regression", ("1", "x"), "file, row 2: the label 'x' is not a number"),
        ("regression", ("1", "nan"), "file, row 2: the label 'nan'"),
        ("regression", ("1", None), "file, row 2: the label 'None'"),
        ("regression", ("1", "1.0"), "expected at least two different numbers as labels, got only '1'"),
        ("regression", ("1e308", "-1e308"), r"labels such as 1e\+308 are too large"),
    ],
)
def test_labels_that_do_not_fit_the_task(kind: str, labels: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_task(kind, labelled(*labels), "file")


@pytest.mark.parametrize("task", [Binary(("a", "b")), Multiclass(("1", "é", "<b>")), Regression(3.25, 0.1)])
def test_tasks_round_trip_through_json(task: Task) -> None:
    assert task_from_dict(json.loads(json.dumps(task.as_dict()))) == task


def test_the_error_for_an_unknown_label_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"here: the label 'c' was not among the training labels .'a', 'b'.$"):
        Binary(("a", "b")).encode("c", "here")
    with pytest.raises(InputError, match="'19', …"):
        Multiclass(tuple(map(str, range(30)))).encode("c", "here")


def test_labels_as_shown() -> None:
    rows = examples("1", None, "x")
    assert labels_as_shown(Binary(("1", "x")), rows) == ["1", None, "x"]
    assert labels_as_shown(Regression(0, 1), rows) == [1.0, None, None]


def test_predicted_numbers_stay_within_the_range_of_the_labels() -> None:
    """Mean 3, standard deviation √2: logits of ±3 are 3 ± 4.24, beyond 1 and 5."""
    task = make_task("regression", labelled(1, 2, 3, 4, 5), "a.csv")
    np.testing.assert_allclose(task.answers(np.array([[-3.0], [0.5], [3.0]]))[:, 0], [1, 3 + 0.5 * math.sqrt(2), 5])
    assert task_from_dict(json.loads(json.dumps(task.as_dict()))) == task
    free = make_task("regression", labelled(1, 2, 3, 4, 5), "a.csv", within_range=False)
    assert free.answers(np.array([[3.0]]))[0, 0] == pytest.approx(3 + 3 * math.sqrt(2))
    assert task_from_dict(json.loads(json.dumps(free.as_dict()))) == free


def test_limits_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValueError, match="low 5 is above high 1"):
        task_from_dict({"kind": "regression", "mean": 3.0, "scale": 1.0, "low": 5.0, "high": 1.0})
