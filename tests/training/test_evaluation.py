"""Evaluation during training: statistics of attention scores and norms, without padding, and scores of every head."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regard.config import Model
from regard.data.collate import collate
from regard.data.tokenizer import Indexed
from regard.errors import InputError
from regard.models.build import build
from regard.models.tasks import LABEL, Regression
from regard.training.evaluation import AttentionStatistics, Evaluator, Spread


def test_spread_of_numbers_added_in_parts() -> None:
    spread = Spread()
    for part in ([1.0, 2.0], [], [6.0]):
        spread.add(torch.tensor(part))
    whole = np.array([1.0, 2.0, 6.0])
    assert spread.as_dict() == pytest.approx({"mean": 3, "std": whole.std(), "min": 1, "max": 6})


def test_scores_are_divided_by_scale_and_padding_is_left_out() -> None:
    """dot scores: word vectors 2 and 4 with V = 3 and λ = 2 give 3 and 6."""
    model = build(Model(attention="dot", embedding=1, scale=2.0), 4, 2).eval()
    with torch.no_grad():
        model.embedding.weight.copy_(torch.tensor([[0.0], [9.0], [2.0], [4.0]]))
        model.levels[0].pooling.scorer.query.fill_(3)
    statistics = AttentionStatistics()
    batch = collate([Indexed(np.array([2, 3], np.int32)), Indexed(np.array([2], np.int32))], 1)
    statistics.add(model(batch))
    facts = statistics.as_dict()
    assert facts["scores"]["words"] == pytest.approx({"mean": 4, "std": np.std([3, 6, 3]), "min": 3, "max": 6})
    assert facts["norms"] == {}


@pytest.mark.parametrize("norm", ["scalar", "sample", "feature"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_norms_of_every_level(norm: str, levels: int) -> None:
    model = build(Model(pooling="apln", norm=norm, norm_init=2.0, levels=levels, embedding=4), 9, 2).eval()  # type: ignore[arg-type]
    lengths, counts = np.array([2, 1, 2]), np.array([1, 2])
    text = Indexed(np.array([2, 3, 4, 5, 6], np.int32), ((), (lengths,), (lengths, counts))[levels - 1])
    statistics = AttentionStatistics()
    statistics.add(model(collate([text], levels)))
    names = ["words", "sentences", "parts"][:levels]
    facts = statistics.as_dict()
    assert list(facts["norms"]) == list(facts["scores"]) == names
    assert all(facts["norms"][name]["mean"] == pytest.approx(2) for name in names)


def test_correlation_of_norm_and_length() -> None:
    """Lengths 1, 2 and 4 with norms 3, 6 and 12 lie on a line in logarithms; a text without words is left out."""
    statistics = AttentionStatistics()
    for sizes, norms in (([1, 4], [3.0, 12.0]), ([2, 0], [6.0, 99.0])):
        mask = torch.arange(4) < torch.tensor(sizes).unsqueeze(1)
        statistics.add_level(0, torch.zeros(2, 4), mask, torch.tensor(norms).unsqueeze(1))
    assert statistics.as_dict()["norms"]["words"]["length"] == pytest.approx(1)
    other = AttentionStatistics()
    other.add_level(0, torch.zeros(2, 4), torch.ones(2, 4, dtype=torch.bool), torch.tensor([[1.0], [2.0]]))
    assert "length" not in other.as_dict()["norms"]["words"], "all texts have the same length"


TASK = Regression(mean=10.0, scale=2.0)
LABELS = np.array([0.0, 1.0, -1.0])  # 10, 12, 8 in the user's unit
FIRST, SECOND = np.array([2, 0]), np.array([1])


def logits(*values: float) -> torch.Tensor:
    return torch.tensor(values)[:, None]  # (B, 1)


def test_answers_are_in_the_order_of_the_texts() -> None:
    evaluator = Evaluator(TASK, LABELS)
    evaluator.add(FIRST, {LABEL: logits(-1.0, 0.5)})
    evaluator.add(SECOND, {LABEL: logits(1.0)})
    assert evaluator.answers[LABEL].tolist() == [[11.0], [12.0], [8.0]]
    scores, statistics = evaluator.result()
    assert scores["mae"] == pytest.approx((1 + 0 + 0) / 3)
    assert statistics.heads == {}


def test_every_head_is_scored_separately() -> None:
    evaluator = Evaluator(TASK, LABELS)
    evaluator.add(FIRST, {"other": logits(-1.0, 0.0), LABEL: logits(0.0, 0.0)})
    evaluator.add(SECOND, {"other": logits(1.0), LABEL: logits(0.0)})
    scores, statistics = evaluator.result()
    assert scores["mae"] == pytest.approx((0 + 2 + 2) / 3)
    assert list(statistics.heads) == ["other"]
    assert statistics.heads["other"]["mae"] == 0


@pytest.mark.parametrize("diverged", [LABEL, "other"])
def test_a_diverged_head_is_reported(diverged: str) -> None:
    evaluator = Evaluator(TASK, LABELS[:1])
    evaluator.add(SECOND - 1, {name: logits(math.nan if name == diverged else 0.0) for name in (LABEL, "other")})
    with pytest.raises(InputError, match="predictions are not finite"):
        evaluator.result()
