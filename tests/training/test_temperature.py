"""Calibration by a temperature: against SciPy, by hand, and as training applies it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, special

from regard.config import Config
from regard.data.reviews import reviews
from regard.models.tasks import Binary, Multiclass, Regression
from regard.training.fit import Parts, fit
from regard.training.temperature import HIGHEST, LOWEST, SPREAD, fit_temperature

TASK = Multiclass(("a", "b", "c"))


def drawn(texts: int, temperature: float, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Logits that are `temperature` times too large for their labels."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(texts, 3)) * 2
    labels = np.array([rng.choice(3, p=row) for row in special.softmax(logits, axis=1)])
    return logits * temperature, labels.astype(np.float64)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_temperature_of_the_labels_is_found(temperature: float) -> None:
    logits, labels = drawn(20_000, temperature)
    assert fit_temperature(TASK, logits, labels) == pytest.approx(temperature, rel=0.05)


def test_it_is_the_minimum_of_the_log_loss() -> None:
    logits, labels = drawn(300, 2.0)

    def loss(log_temperature: float) -> float:
        likelihood = special.log_softmax(logits / np.exp(log_temperature), axis=1)
        return float(-likelihood[np.arange(300), labels.astype(int)].sum() + 0.5 * (log_temperature / SPREAD) ** 2)

    best = optimize.minimize_scalar(loss, bounds=(np.log(LOWEST), np.log(HIGHEST)), method="bounded").x
    assert fit_temperature(TASK, logits, labels) == pytest.approx(np.exp(best), rel=1e-3)


def test_two_classes_share_one_logit() -> None:
    logits, labels = drawn(2000, 2.0)
    two = logits[:, 1:2] - logits[:, 0:1]
    keep = labels < 2
    pair = np.concatenate((np.zeros_like(two), two), axis=1)[keep]
    expected = fit_temperature(Multiclass(("a", "b")), pair, labels[keep])
    assert fit_temperature(Binary(("a", "b")), two[keep], labels[keep]) == pytest.approx(expected, rel=1e-6)


def test_few_texts_and_regressions_stay_as_they_are() -> None:
    logits, labels = drawn(19, 3.0)
    assert fit_temperature(TASK, logits, labels) == 1.0
    assert fit_temperature(Regression(0.0, 1.0), logits[:, :1], labels) == 1.0


def test_right_answers_alone_do_not_lead_to_extremes() -> None:
    logits = np.eye(3)[[0, 1, 2] * 10]
    assert 0.25 <= fit_temperature(TASK, logits, np.array([0.0, 1.0, 2.0] * 10)) < 1


@pytest.mark.parametrize("options", [{"members": 3}, {"members": 1}, {"encoder": "cnn", "hidden": 8, "epochs": 3}])
def test_training_divides_the_output_layer(options: dict[str, Any]) -> None:
    values = {"epochs": 2, "task": "multiclass", "dev_fraction": 0.3, "device": "cpu", **options}
    plain, scaled = (
        fit(Config().override({**values, "calibrate": calibrate}), Parts(reviews(150))) for calibrate in (False, True)
    )
    temperature = scaled.metrics["temperature"]
    assert temperature != 1.0
    assert "temperature" not in plain.metrics
    texts = ["Clean room, friendly staff.", "the worst film", ""]
    one, other = (model.logits(model.tokenizer.encode_each(texts)) for model in (plain, scaled))
    np.testing.assert_allclose(other * temperature, one, rtol=1e-4, atol=1e-5)
    assert scaled.metrics["dev"]["log_loss"] <= plain.metrics["dev"]["log_loss"] + 1e-6
    assert scaled.metrics["dev"]["accuracy"] == plain.metrics["dev"]["accuracy"]
