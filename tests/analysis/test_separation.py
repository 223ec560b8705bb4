from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from regard.analysis.separation import FEWEST, separation


def test_area_is_scikit_learns_with_ties() -> None:
    rng = np.random.default_rng(0)
    group, others = rng.integers(0, 9, 40) + 1.0, rng.integers(0, 9, 70) + 0.0
    result = separation(group, others)
    assert result is not None
    truth = [1] * 40 + [0] * 70
    assert result.auc == pytest.approx(roc_auc_score(truth, np.concatenate([group, others])), abs=1e-12)


def test_interval_by_hand() -> None:
    # five of the group lie above all others, five above half of them; of the others, five below all, five below half
    result = separation(np.repeat([2.0, 4.0], 5), np.repeat([1.0, 3.0], 5))
    assert result is not None
    assert result.low is not None
    assert result.high is not None
    assert result.auc == 0.75
    error = math.sqrt(2 * (10 * 0.25**2 / 9) / 10)
    reach = 2.2621571628 * error / (0.75 * 0.25)  # t of 9 degrees
    odds = [low_or_high / (1 - low_or_high) for low_or_high in (result.low, result.high)]
    assert odds == pytest.approx([3 * math.exp(-reach), 3 * math.exp(reach)])


@pytest.mark.parametrize(("truth", "apart"), [(0.5, 0.0), (0.7, 0.74161), (0.9, 1.81239)])  # Φ(apart / √2)
@pytest.mark.parametrize("sizes", [(60, 60), (487, FEWEST), (FEWEST, 487)])
def test_interval_has_its_nominal_coverage(truth: float, apart: float, sizes: tuple[int, int]) -> None:
    rng, hits = np.random.default_rng(1), 0
    for _ in range(400):
        result = separation(rng.normal(apart, 1, sizes[0]), rng.normal(0, 1, sizes[1]))
        assert result is not None
        assert result.low is not None
        assert result.high is not None
        hits += result.low <= truth <= result.high
    assert 0.88 <= hits / 400 <= 0.99


def test_small_groups_have_an_area_but_no_interval() -> None:
    assert separation(np.array([]), np.array([1.0])) is None
    assert separation(np.array([2.0]), np.array([1.0])) == (1.0, None, None)
    many, few = np.arange(487.0), np.arange(FEWEST - 1.0)
    for result in (separation(many, few), separation(few, many)):
        assert result is not None
        assert (result.low, result.high) == (None, None)


def test_groups_that_do_not_overlap_are_not_certain_to_stay_apart() -> None:
    above, below = (separation(side + np.arange(20.0), np.zeros(FEWEST)) for side in (1, -99))
    assert above is not None
    assert above.low is not None
    assert (above.auc, above.high) == (1.0, 1.0)
    assert 0.5 < above.low < 0.8
    assert below == (0.0, 0.0, pytest.approx(1 - above.low))


def test_equal_numbers_show_no_separation() -> None:
    assert separation(np.ones(30), np.ones(30)) == (0.5, 0.5, 0.5)
