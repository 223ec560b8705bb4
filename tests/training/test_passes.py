from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regard.errors import InputError
from regard.models.tasks import LABEL, Regression
from regard.training.passes import Pass

TASK = Regression(mean=10.0, scale=2.0)
LABELS = np.array([0.0, 1.0, -1.0])  # 10, 12, 8 in the user's unit
FIRST, SECOND = np.array([2, 0]), np.array([1])


def logits(*values: float) -> torch.Tensor:
    return torch.tensor(values)[:, None]  # (B, 1)


def test_answers_come_back_in_the_order_of_the_texts() -> None:
    found = Pass(TASK, LABELS)
    found.add(FIRST, {LABEL: logits(-1.0, 0.5)})
    found.add(SECOND, {LABEL: logits(1.0)})
    assert found.said[LABEL].tolist() == [[11.0], [12.0], [8.0]]
    scores, statistics = found.result()
    assert scores["mae"] == pytest.approx((1 + 0 + 0) / 3)
    assert statistics.heads == {}


def test_every_head_is_scored_by_itself() -> None:
    found = Pass(TASK, LABELS)
    found.add(FIRST, {"other": logits(-1.0, 0.0), LABEL: logits(0.0, 0.0)})
    found.add(SECOND, {"other": logits(1.0), LABEL: logits(0.0)})
    scores, statistics = found.result()
    assert scores["mae"] == pytest.approx((0 + 2 + 2) / 3)
    assert list(statistics.heads) == ["other"]
    assert statistics.heads["other"]["mae"] == 0


@pytest.mark.parametrize("astray", [LABEL, "other"])
def test_a_head_that_went_astray_is_told(astray: str) -> None:
    found = Pass(TASK, LABELS[:1])
    found.add(SECOND - 1, {name: logits(math.nan if name == astray else 0.0) for name in (LABEL, "other")})
    with pytest.raises(InputError, match="answers are not finite"):
        found.result()
