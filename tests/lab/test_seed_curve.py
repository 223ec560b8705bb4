"""Curves over seeds, on numbers checked by hand."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from regard.report.plots.lines import Panel, lines
from regard_lab.statistics import over_seeds


def test_a_curve_is_the_mean_with_its_interval() -> None:
    curve = over_seeds("a", [1, 2], [[1.0, 3.0], [5.0]])
    assert (curve.name, curve.x, curve.y) == ("a", (1, 2), (2.0, 5.0))
    half = 12.706  # Student's t of one degree of freedom times the deviation, √2, over √2
    assert (curve.low[0], curve.high[0]) == pytest.approx((2 - half, 2 + half), abs=1e-3)
    assert (curve.low[1], curve.high[1]) == (5.0, 5.0), "one seed has no interval"


def test_points_without_values_are_left_out() -> None:
    curve = over_seeds("a", [1, 2, 3], [[1.0], [], [3.0]])
    assert (curve.x, curve.y, curve.low, curve.high) == ((1, 3), (1.0, 3.0), (1.0, 3.0), (1.0, 3.0))
    ElementTree.fromstring(lines("t", "x", "y", [Panel("", (curve,))], band=True))
