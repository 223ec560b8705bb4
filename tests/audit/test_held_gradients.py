"""Gradients with fixed weights: by hand for two words, and against finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from audited import model_by_hand

from regard.audit.held_gradients import held_gradients
from regard.config import Config
from regard.data.reviews import reviews
from regard.explain.attribute import attribute
from regard.explain.reading import read
from regard.training.fit import Parts, fit


def test_two_words_by_hand() -> None:
    model = model_by_hand({"good": math.log(3)}, {"good": (2.0,), "film": (-1.0,)})  # weights 3/4 and 1/4
    one, other, none = held_gradients(model, read(model, ["good film", "film film good", ""]))
    assert one.tolist() == pytest.approx([3 / 4 * 2, 1 / 4 * 1])
    assert other.tolist() == pytest.approx([1 / 5, 1 / 5, 3 / 5 * 2])
    assert none.tolist() == []
    with_weights = attribute(model, ["good film"], "gradient_times_input")[0].scores
    assert abs(with_weights[0]) != pytest.approx(one[0])  # there the weights depend on the words


def test_an_lstm_against_finite_differences() -> None:
    options = {"encoder": "bilstm", "embedding": 6, "hidden": 8, "query": 8, "epochs": 1, "min_count": 1}
    model = fit(Config().override({**options, "device": "cpu", "engine": "torch"}), Parts(reviews(20)))
    (reading,) = read(model, [reviews(3)[2].text])
    (gradients,) = held_gradients(model, [reading])
    decided = int(model.answers([reading.text]).argmax())
    net = model.model.double()
    ids = torch.from_numpy(np.asarray(reading.indexed.ids)).long()[None]
    embedded, mask = net.embedding(ids).detach(), torch.ones_like(ids, dtype=torch.bool)
    weights = net.levels[0](embedded, mask).pooled.weights.detach()

    def log_odds(scale: float, position: int) -> float:
        moved = embedded.clone()
        moved[0, position] *= scale
        states = net.levels[0](moved, mask).states
        p = net.head((weights.unsqueeze(-1) * states).sum(1)).softmax(-1)[0, decided].detach()
        return float(torch.logit(p))

    step = 1e-5
    slopes = [
        abs(log_odds(1 + step, position) - log_odds(1 - step, position)) / (2 * step)
        for position in range(len(gradients))
    ]
    np.testing.assert_allclose(gradients, slopes, rtol=1e-3, atol=1e-7)
