"""Numbers of seeds, checked by simulation and at the edges."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import stats

from regard_lab.power import MOST, equivalence_power, seeds_for, t_test_power


@pytest.mark.parametrize(("effect", "seeds"), [(0.5, 10), (1.0, 10), (0.3, 40)])
def test_power_agrees_with_simulation(effect: float, seeds: int) -> None:
    draws = np.random.default_rng(0).normal(effect, 1, (20_000, seeds))
    share = float((stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05).mean())
    assert t_test_power(effect, 1.0, seeds) == pytest.approx(share, abs=0.01)


def test_the_sign_of_the_effect_does_not_matter() -> None:
    assert t_test_power(-0.5, 1.0, 20) == t_test_power(0.5, 1.0, 20)


def test_the_smallest_number_with_enough_power() -> None:
    power = partial(t_test_power, 0.5, 1.0)
    seeds = seeds_for(power)
    assert seeds is not None
    assert power(seeds) >= 0.8 > power(seeds - 1)


def test_a_very_large_effect_needs_three_and_a_tiny_one_too_many() -> None:
    """SciPy has no value for very large effects: 21 thousandths of RMSE with a standard deviation of 3 are one."""
    assert seeds_for(partial(t_test_power, 0.021, 0.003)) == 3
    assert seeds_for(partial(t_test_power, 0.001, 1.0)) is None
    assert MOST == 1000


def test_equivalence_needs_more_seeds_for_a_smaller_margin() -> None:
    wide, narrow = (seeds_for(partial(equivalence_power, margin, 1.0)) for margin in (1.0, 0.5))
    assert wide is not None
    assert narrow is not None
    assert wide < narrow
