from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from regard.analysis.separation import separation


def test_area_is_scikit_learns_with_ties() -> None:
    chance = np.random.default_rng(0)
    group, others = chance.integers(0, 9, 40) + 1.0, chance.integers(0, 9, 70) + 0.0
    found = separation(group, others)
    assert found is not None
    truth = [1] * 40 + [0] * 70
    assert found.auc == pytest.approx(roc_auc_score(truth, np.concatenate([group, others])), abs=1e-12)


def test_interval_by_hand() -> None:
    # 2 lies above 1 of {1, 3}, 4 above both: placements 1/2 and 1; of the others, 1 lies below both and 3 below one
    found = separation(np.array([2.0, 4.0]), np.array([1.0, 3.0]))
    assert found is not None
    variance = 0.125 / 2 + 0.125 / 2
    assert found.auc == 0.75
    assert found.low == pytest.approx(0.75 - 1.959963984540054 * math.sqrt(variance))
    assert found.high == 1.0


def test_interval_covers_about_as_often_as_it_says() -> None:
    chance, truth, hits = np.random.default_rng(1), 0.7602, 0  # two normals one apart: Φ(1/√2)
    for _ in range(400):
        found = separation(chance.normal(1, 1, 60), chance.normal(0, 1, 60))
        assert found is not None
        hits += found.low <= truth <= found.high
    assert 0.91 <= hits / 400 <= 0.985


def test_nothing_to_tell_apart() -> None:
    assert separation(np.array([]), np.array([1.0])) is None
    alone = separation(np.array([2.0]), np.array([1.0]))
    assert alone is not None
    assert alone == (1.0, 1.0, 1.0)
