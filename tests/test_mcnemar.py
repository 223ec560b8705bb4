"""McNemar's exact test, against SciPy's binomial test and against counting."""

from __future__ import annotations

from itertools import product

import pytest
from scipy.stats import binomtest

from regard.mcnemar import mcnemar_p


def test_five_to_nothing_is_two_of_thirty_two_outcomes() -> None:
    assert mcnemar_p(5, 0) == pytest.approx(2 / 32)


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (3, 3), (4, 3), (3, 4), (0, 1)])
def test_an_even_split_says_nothing(won: int, lost: int) -> None:
    assert mcnemar_p(won, lost) == 1


@pytest.mark.parametrize(
    ("won", "lost"), [*product((0, 1, 2, 7, 40), (1, 3, 12, 41)), (31, 119), (4800, 5200), (0, 900)]
)
def test_p_is_that_of_scipy(won: int, lost: int) -> None:
    expected = binomtest(won, won + lost).pvalue
    assert mcnemar_p(won, lost) == pytest.approx(expected, rel=1e-7)
    assert mcnemar_p(lost, won) == mcnemar_p(won, lost)
