"""The Wilson score interval."""

from __future__ import annotations

import pytest

from regard.wilson import wilson_interval


@pytest.mark.parametrize(
    ("share", "size", "expected"),
    [(0.5, 10, (0.2366, 0.7634)), (1.0, 10, (0.7225, 1.0)), (0.0, 10, (0.0, 0.2775)), (0.9, 1000, (0.8799, 0.9171))],
)
def test_known_intervals(share: float, size: int, expected: tuple[float, float]) -> None:
    """(p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n) with z = 1.96."""
    assert wilson_interval(share, size) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("size", [1, 3, 7, 100, 12345])
@pytest.mark.parametrize("share", [0.0, 1 / 3, 1.0])
def test_the_interval_contains_the_share(share: float, size: int) -> None:
    low, high = wilson_interval(share, size)
    assert 0 <= low <= share <= high <= 1
    assert low < high
