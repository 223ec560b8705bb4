"""Training on several labels per text: metrics, thresholds, gradient, temperature, both engines, committees."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, average_precision_score, f1_score, log_loss

from regard.config import Config, Model
from regard.data.labels import Labels
from regard.data.unit_texts import UnitTexts
from regard.explain.flat_texts import leave_one_out_from_tables
from regard.explain.leave_one_out import leave_one_out
from regard.explain.reading import read
from regard.explain.targets import explained, numbers
from regard.kernels.sparse_steps import MULTILABEL
from regard.kernels.units import distinct
from regard.models.build import build
from regard.models.flat import EMBEDDING, fresh
from regard.models.multilabel import MultiLabel
from regard.models.tasks import encoded
from regard.records import Example
from regard.training.binary_threshold import best_threshold
from regard.training.bootstrap import measure_with_intervals
from regard.training.fit import Parts, fit
from regard.training.metrics import measure, selection_score
from regard.training.preparation import described_sets
from regard.training.sparse_batch import Objective, Worker
from regard.training.temperature import fit_temperature
from regard.training.thresholds import FEWEST_POSITIVE, tuned
from regard.values import Batch
from several_labels import several

TASK = MultiLabel(("a", "b", "c", "d"), (0.5, 0.3, 0.6, 0.5))


def random_answers(texts: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Answers with many equal values, and labels of which the last never occurs and is never predicted."""
    rng = np.random.default_rng(0)
    labels = (rng.random((texts, 4)) < (0.5, 0.2, 0.05, 0.0)).astype(np.float64)
    answers = np.round(np.clip(0.3 * labels + 0.6 * rng.random((texts, 4)), 0.01, 0.99), 2)
    answers[:, 3] *= 0.4
    return answers, labels


def test_metrics_are_those_of_scikit_learn() -> None:
    answers, labels = random_answers()
    metrics, chosen = measure(TASK, answers, labels), TASK.chosen(answers)
    assert metrics["micro_f1"] == pytest.approx(f1_score(labels, chosen, average="micro"))
    # the last label is neither there nor predicted, so that it has no F1
    assert metrics["macro_f1"] == pytest.approx(f1_score(labels[:, :3], chosen[:, :3], average="macro"))
    assert metrics["subset_accuracy"] == pytest.approx(accuracy_score(labels, chosen))
    assert metrics["map"] == pytest.approx(average_precision_score(labels[:, :3], answers[:, :3], average="macro"))
    expected = np.mean([log_loss(labels[:, k], answers[:, k], labels=[0, 1]) for k in range(4)])
    assert metrics["log_loss"] == pytest.approx(expected)
    row = metrics["per_class"]["b"]
    assert row["n"] == int(labels[:, 1].sum())
    assert row["f"] == pytest.approx(f1_score(labels[:, 1], chosen[:, 1]))
    assert row["threshold"] == 0.3
    low, high = measure_with_intervals(TASK, answers, labels)["micro_f1_interval"]
    assert low < metrics["micro_f1"] < high


def test_the_selected_score_decides() -> None:
    scores = {"micro_f1": 0.7, "macro_f1": 0.5, "log_loss": 0.2}
    assert selection_score(scores) == (0.7, -0.2)
    assert selection_score(scores, "macro_f") == (0.5, -0.2)
    assert selection_score(scores, "log_loss") == (0.0, -0.2)


def test_a_threshold_lies_between_the_last_accepted_and_the_first_refused() -> None:
    probabilities, labels = np.array([0.9, 0.2, 0.6, 0.3, 0.8]), np.array([1.0, 0, 1, 0, 0])
    # accepting 0.9, 0.8 and 0.6: two of three right, F1 = 4 / 5
    assert best_threshold(probabilities, labels) == pytest.approx(0.45)
    # equal probabilities cannot be told apart
    assert best_threshold(np.array([0.5, 0.5, 0.1]), np.array([1.0, 0, 0])) == pytest.approx(0.3)


def test_every_threshold_is_the_best_on_the_texts_it_was_chosen_on() -> None:
    answers, labels = random_answers()
    chosen = tuned(TASK, answers, labels)
    assert isinstance(chosen, MultiLabel)
    grid = np.linspace(0.02, 0.98, 193)
    for k in (0, 1):  # enough texts of their own
        assert labels[:, k].sum() >= FEWEST_POSITIVE
        best = max(f1_score(labels[:, k], answers[:, k] >= one) for one in grid)
        assert f1_score(labels[:, k], answers[:, k] >= chosen.thresholds[k]) == pytest.approx(best)
    assert labels[:, 2].sum() < FEWEST_POSITIVE
    assert chosen.thresholds[2] == chosen.thresholds[3] == best_threshold(answers.ravel(), labels.ravel())
    assert tuned(TASK, answers[:10], labels[:10]) is TASK, "too few texts"


def test_one_temperature_minimises_the_log_loss_of_all_labels() -> None:
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(500, 4)) * 3
    labels = (rng.random((500, 4)) < 1 / (1 + np.exp(-logits / 2))).astype(np.float64)
    assert fit_temperature(TASK, logits, labels) == pytest.approx(2, rel=0.15)


@pytest.mark.parametrize("attention", ["dot", "additive"])
def test_gradient_against_autograd(attention: str) -> None:
    words = [[2, 3, 2, 9], [3], [4, 7, 4, 8], []]
    model = Model(embedding=6, query=5, scale=2.0, attention=attention)  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    state = {name: value + 0.3 * rng.normal(size=value.shape) for name, value in fresh(model, 12, 3, 1).items()}
    state[EMBEDDING][0] = 0
    labels = np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]], dtype=np.float64)
    weights = np.array([1.0, 2.0, 0.5, 1.0], dtype=np.float32)
    offsets = np.cumsum([0, *map(len, words)]).astype(np.int64)
    texts = UnitTexts(*distinct(np.concatenate(words).astype(np.int32), offsets, 12), labels, weights)
    total, rows, gradients = Worker(state, {}, Objective(MULTILABEL, 2.0)).gradient(texts, np.arange(4))
    classifier = build(model, 12, 3).double()
    classifier.load_state_dict({name: torch.tensor(value) for name, value in state.items()})
    ids = torch.tensor([text + [0] * (4 - len(text)) for text in words])
    logits = classifier(Batch(ids, ids > 0)).logits
    each = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.tensor(labels), reduction="none").sum(1)
    weighted = each * torch.tensor(weights)
    weighted.mean().backward()
    assert total == pytest.approx(weighted.sum().item(), rel=1e-9)
    for name, parameter in classifier.named_parameters():
        assert parameter.grad is not None
        expected = parameter.grad.numpy()[rows] if name == EMBEDDING else parameter.grad.numpy()
        np.testing.assert_allclose(gradients[name], expected, rtol=1e-6, atol=1e-8, err_msg=name)


@pytest.mark.parametrize(
    "options",
    [
        {"members": 1},
        {"members": 3},
        {"engine": "torch", "epochs": 40, "lr": 0.02},
        {"encoder": "lstm", "hidden": 12, "epochs": 40, "lr": 0.02},
    ],
    ids=["fast", "committee", "torch", "lstm"],
)
def test_every_engine_learns_several_labels(options: dict[str, object]) -> None:
    trained = fit(Config().override(options), Parts(several(240), None, several(80, seed=1)))
    assert trained.task.kind == trained.config.data.task == "multilabel"
    assert trained.metrics["test"]["micro_f1"] > 0.9
    assert trained.metrics["dev"]["per_class"].keys() == {"food", "room", "staff"}
    texts = [example.text for example in several(20, seed=2)]
    alone = np.concatenate([trained.answers([text]) for text in texts])
    np.testing.assert_allclose(trained.answers(texts), alone, atol=1e-6)  # batches do not matter
    predictions = trained.task.predictions(trained.answers(["it rained, a helpful porter"]))
    assert predictions[0].value == ("staff",)


def test_held_out_texts_have_every_label() -> None:
    examples = several(100)
    trained = fit(Config().override({"members": 1, "epochs": 1}), Parts(examples))
    held = {name: row["n"] for name, row in trained.metrics["dev"]["per_class"].items()}
    counts = encoded(trained.task, Labels.of(examples), "texts").sum(0)
    for name, count in zip(("food", "room", "staff"), counts, strict=True):
        assert abs(held[name] - count / 10) <= 2


def test_contributions_are_drops_of_the_label_s_own_log_odds() -> None:
    trained = fit(Config().override({"members": 2, "epochs": 2}), Parts(several(80)))
    texts = [example.text for example in several(6, seed=3)]
    for target in ("food", "staff"):
        targets = numbers(trained.task, target, len(texts))
        fast = leave_one_out_from_tables(trained, texts, targets)
        slow = leave_one_out(trained, [*read(trained, texts)], targets)
        for one, other in zip(fast, slow, strict=True):
            np.testing.assert_allclose(one.scores, other.scores, atol=2e-5)
    logits = np.array([[1.0, -2.0, 3.0]])
    np.testing.assert_array_equal(explained(trained.task, logits, np.array([1])), [-2.0])


@pytest.mark.parametrize(("without", "said"), [(1, "1 text without any"), (2, "2 texts without any")])
def test_texts_without_a_label_are_counted(without: int, said: str) -> None:
    sets: list[tuple[str, ...]] = [("a", "b"), *[()] * without]
    labels = Labels.of(Example("text", one, row) for row, one in enumerate(sets, 1))
    assert described_sets(labels).endswith(said)
