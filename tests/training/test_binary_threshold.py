"""The threshold of a binary task: its choice, where it is kept, and that every way to a prediction applies it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import f1_score

import regard
from regard import TextClassifier, TextRegressor, runtime
from regard.errors import InputError
from regard.explain.targets import PREDICTED, settled
from regard.models.tasks import Binary, Multiclass, task_from_dict
from regard.training.binary_threshold import HIGHEST, LOWEST, best_threshold
from regard.training.metrics import measure

ANSWERS = np.array([[0.9, 0.1], [0.7, 0.3], [0.5, 0.5], [0.2, 0.8]])
TEXTS = [
    f"{word} {thing}"
    for word in ("good", "bad", "odd", "bad")
    for thing in ["film", "food", "book", "room", "day", "trip"]
] * 3
LABELS = ["pos" if text.startswith("good") else "neg" for text in TEXTS]
SOME = ["good film", "bad film", "odd film", "good bad", "nothing known"]


def test_the_second_class_is_predicted_from_the_threshold_on() -> None:
    assert Binary(("no", "yes")).chosen(ANSWERS).tolist() == [0, 0, 0, 1]
    task = Binary(("no", "yes"), thresholds=(0.3,))
    assert task.chosen(ANSWERS).tolist() == [0, 1, 1, 1]
    assert [one.value for one in task.predictions(ANSWERS)] == ["no", "yes", "yes", "yes"]
    assert task.predictions(ANSWERS)[1].probabilities == {"no": 0.7, "yes": 0.3}, "probabilities stay"
    metrics = measure(task, ANSWERS, np.array([0.0, 1.0, 0.0, 1.0]))
    assert metrics["accuracy"] == 0.75
    assert settled(task, np.log(ANSWERS[:, 1:] / ANSWERS[:, :1]), np.full(4, PREDICTED)).tolist() == [0, 1, 1, 1]


def test_a_threshold_survives_task_json() -> None:
    task = Binary(("no", "yes"), thresholds=(0.3,))
    assert task.as_dict()["thresholds"] == [0.3]
    assert task_from_dict(task.as_dict()) == task
    assert "thresholds" not in Binary(("no", "yes")).as_dict()
    for bad in ([0.3, 0.4], [0.0], [1.0], ["x"]):
        with pytest.raises((ValueError, InputError)):
            task_from_dict({"kind": "binary", "classes": ["no", "yes"], "thresholds": bad})  # type: ignore[typeddict-item]


def test_the_best_threshold_against_trying_all() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        labels = (rng.random(60) < 0.2).astype(float)
        labels[0] = 1
        probabilities = np.round(np.clip(0.3 * labels + 0.5 * rng.random(60), 0.03, 0.97), 2)
        found = best_threshold(probabilities, labels)
        tried = [f1_score(labels, probabilities >= value) for value in np.unique(probabilities)]
        assert f1_score(labels, probabilities >= found) == pytest.approx(max(tried))
        assert LOWEST <= found <= HIGHEST


@pytest.mark.parametrize(
    "options", [{}, {"encoder": "cnn", "epochs": 3, "hidden": 8, "embedding": 8, "dev_fraction": 0.3}]
)
@pytest.mark.parametrize("threshold", ["best-f1", 0.1])
@pytest.mark.parametrize("positive", [None, "neg"])
def test_every_prediction_applies_it(tmp_path: Path, options: dict[str, Any], threshold: Any, positive: Any) -> None:
    model = TextClassifier(threshold=threshold, positive=positive, **options).fit(TEXTS, LABELS)
    task = model.trained_.task
    assert isinstance(task, Binary)
    assert task.classes[1] == (positive or "pos")
    (value,) = task.thresholds
    if threshold != "best-f1":
        assert value == threshold
    column = model.classes_.tolist().index(task.classes[1])
    is_second = model.predict_proba(SOME)[:, column] >= value
    expected = [task.classes[int(one)] for one in is_second]
    assert model.predict(SOME).tolist() == expected
    assert [one.prediction.value for one in model.explain_all(SOME)] == expected
    assert [one.target for one in model.explain_all(SOME)] == expected
    assert ((model.decision_function(SOME) > 0) == (np.array(expected) == model.classes_[1])).all()
    model.save(tmp_path / "run")
    assert json.loads((tmp_path / "run" / "task.json").read_text())["thresholds"] == [value]
    assert regard.load(tmp_path / "run").predict(SOME).tolist() == expected
    if not options:
        shipped = runtime.load(tmp_path / "run")
        assert shipped.predict(SOME).tolist() == expected
        assert [shipped.explain(text).prediction.value for text in SOME] == expected


def test_the_threshold_does_not_change_probabilities() -> None:
    plain, lower = (TextClassifier(epochs=2, threshold=one).fit(TEXTS, LABELS) for one in (None, 0.2))
    assert (plain.predict_proba(SOME) == lower.predict_proba(SOME)).all()
    assert (lower.predict(SOME) == "pos").sum() >= (plain.predict(SOME) == "pos").sum()


def test_log_odds_of_several_classes() -> None:
    model = TextClassifier(epochs=1).fit(TEXTS, [text.split()[0] for text in TEXTS])
    odds = model.decision_function(SOME)
    assert odds.shape == (5, 3)
    assert (odds.argmax(1) == model.predict_proba(SOME).argmax(1)).all()


def test_refused_tasks() -> None:
    three = [text.split()[0] for text in TEXTS]
    with pytest.raises(InputError, match=r"threshold = 0\.3 needs two classes, got task = 'multiclass'"):
        TextClassifier(threshold=0.3).fit(TEXTS, three)
    with pytest.raises(InputError, match="positive = 'good' needs two classes"):
        TextClassifier(positive="good").fit(TEXTS, three)
    with pytest.raises(InputError, match=r"threshold = 0\.3 needs two classes, got task = 'regression'"):
        TextRegressor(threshold=0.3).fit(TEXTS, [1.0, 2.0] * 36)
    with pytest.raises(InputError, match="positive: expected one of 'neg', 'pos', got 'Pos'"):
        TextClassifier(positive="Pos").fit(TEXTS, LABELS)
    assert Multiclass(("a", "b", "c")).chosen(np.array([[0.2, 0.5, 0.3]])).tolist() == [1]


@pytest.mark.parametrize("options", [{}, {"encoder": "cnn", "epochs": 1, "hidden": 8, "embedding": 8}])
def test_without_texts_to_choose_it_on_the_threshold_is_not_made_up(
    options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    rare = ["pos" if row == 5 else "neg" for row in range(len(TEXTS))]
    model = TextClassifier(threshold="best-f1", verbose=True, **options).fit(TEXTS, rare)
    assert model.trained_.task == Binary(("neg", "pos"))
    said = capsys.readouterr().err
    assert "it needs 20 dev texts and both classes among them, so the more probable class is predicted" in said


def test_a_continued_run_without_dev_texts_keeps_its_threshold_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    model = TextClassifier(threshold="best-f1").fit(TEXTS, LABELS)
    task = model.trained_.task
    assert isinstance(task, Binary)
    model.set_params(verbose=True).partial_fit(["good film", "bad food"], ["pos", "neg"])
    assert model.trained_.task == task
    said = capsys.readouterr().err
    assert f"predicting 'pos' from a probability of {task.thresholds[0]:.3g} on" in said
    assert "the more probable class is predicted" not in said
