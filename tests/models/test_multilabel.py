"""The multi-label task: encoding, probabilities, thresholds, its file, and one label as a classifier."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.config import Config
from regard.data.labels import Labels
from regard.errors import InputError
from regard.models.multilabel import MultiLabel
from regard.models.one_label import one_label, with_one_label
from regard.models.tasks import encoded, labels_as_shown, make_task, strata, task_from_dict
from regard.records import Example
from regard.training.fit import Parts, fit
from several_labels import several

TASK = MultiLabel(("a", "b", "c"), (0.5, 0.25, 0.9))


def test_a_task_is_made_from_label_sets() -> None:
    labels = Labels.of([Example("x", ("b", "a")), Example("y", ()), Example("z", ("10",)), Example("w", ("9",))])
    task = make_task("multilabel", labels, "file")
    assert isinstance(task, MultiLabel)
    assert task.classes == ("9", "10", "a", "b")
    assert task.thresholds == (0.5,) * 4
    np.testing.assert_array_equal(
        encoded(task, labels, "file"), [[0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    )
    assert encoded(task, Labels(), "empty").shape == (0, 4)
    assert strata(task, labels).tolist() == [2, 3, 1, 0]


def test_an_unknown_label_is_named() -> None:
    with pytest.raises(
        InputError, match=r"file, row 1: the label 'x' was not among the training labels \('a', 'b', 'c'\)"
    ):
        encoded(TASK, Labels.of([Example("t", ("a", "x"), 1)]), "file")


def test_lists_need_the_task() -> None:
    with pytest.raises(InputError, match=r"row 4: expected one label per text for task = binary.*--task multilabel"):
        make_task("binary", Labels.of([Example("x", "a", 3), Example("y", ("a", "b"), 4)]), "file")
    with pytest.raises(InputError, match="at least two different labels, got 'a'"):
        make_task("multilabel", Labels.of([Example("x", ("a",)), Example("y", ())]), "file")


def test_labels_are_predicted_from_their_thresholds_on() -> None:
    logits = np.log([[1.0, 1 / 3, 8.0], [0.99, 0.3, 10.0]])  # probabilities 1/2, 1/4, 8/9, then less, less, 10/11
    answers = TASK.answers(logits)
    np.testing.assert_allclose(answers[0], [1 / 2, 1 / 4, 8 / 9])
    assert [one.value for one in TASK.predictions(answers + 1e-12)] == [("a", "b"), ("c",)]
    assert TASK.predictions(np.zeros((1, 3)))[0].as_dict()["prediction"] == []
    assert np.isfinite(TASK.answers(np.array([[-1e4, 0.0, 1e4]]))).all()


def test_the_loss_is_the_sum_over_the_labels() -> None:
    logits = torch.tensor([[0.0, 2.0, -1.0], [1.0, 0.0, 3.0]])
    labels = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    p = torch.sigmoid(logits)
    each = -(labels * p.log() + (1 - labels) * (1 - p).log()).sum(1)
    torch.testing.assert_close(TASK.loss(logits, labels), each.mean())
    weights = torch.tensor([2.0, 0.5])
    torch.testing.assert_close(TASK.loss(logits, labels, weights), (each * weights).mean())


def test_the_file_has_the_thresholds() -> None:
    row = TASK.as_dict()
    assert row == {"kind": "multilabel", "classes": ["a", "b", "c"], "thresholds": [0.5, 0.25, 0.9]}
    assert task_from_dict(row) == TASK
    for damage in ({"thresholds": [0.5]}, {"thresholds": [0.5, 0.5, 1.5]}, {"classes": ["a", "a", "b"]}):
        with pytest.raises(ValueError, match=r"expected|classes"):
            task_from_dict({**row, **damage})  # type: ignore[typeddict-item]


def test_labels_are_shown_sorted() -> None:
    examples = [Example("x", ("b", "a")), Example("y"), Example("z", "c"), Example("w", ())]
    assert labels_as_shown(TASK, examples) == [("a", "b"), None, ("c",), ()]


@pytest.mark.parametrize(
    "options", [{"members": 2}, {"encoder": "lstm", "hidden": 6, "embedding": 5}, {"head_hidden": True}]
)
def test_one_label_has_the_probability_of_the_run(options: dict[str, object]) -> None:
    trained = fit(Config().override({"epochs": 1, **options}), Parts(several(60)))
    texts = [example.text for example in several(10, seed=1)]
    whole = trained.answers(texts)
    for label in trained.task.as_dict()["classes"]:  # "not room" comes before "room", and after "food"
        single = one_label(trained, label)
        classes = single.task.as_dict()["classes"]
        assert classes == sorted([label, f"not {label}"])
        column = trained.task.as_dict()["classes"].index(label)
        answers = single.answers(texts)
        np.testing.assert_allclose(answers[:, classes.index(label)], whole[:, column], atol=1e-6)
        said = [label in one.value for one in trained.task.predictions(whole)]  # type: ignore[operator]
        assert [one.value == label for one in single.task.predictions(answers)] == said
    assert [one.label for one in with_one_label([Example("x", ("a", "b")), Example("y", ()), Example("z")], "b")] == [
        "b",
        "not b",
        None,
    ]
    with pytest.raises(InputError, match="--target: expected one of 'food', 'room', 'staff', got 'x'"):
        one_label(trained, "x")
