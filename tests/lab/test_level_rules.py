"""Verdicts from levels, paths and shares: numbers checked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claimed import BASE, FAR, Rows, facts, rows, table

from regard_lab.claims import level_rules, order_rules
from regard_lab.claims.verdicts import HOLDS, PARTLY, REFUTED, UNDECIDED
from regard_lab.statistics import Interval


def test_below_by_the_whole_interval(tmp_path: Path) -> None:
    wide = [0.9, 1.0, 0.95, 1.05]  # mean 0.975, half 3.182 · 0.0645 / 2 = 0.103
    given = rows(new_one=BASE, new_two=wide)
    result = level_rules.below(facts(table(tmp_path), given), "norm", 1.0)
    assert result is not None
    assert result.verdict == PARTLY
    assert result.measured.startswith("1 of 2 below 1: One 0.500 ± 0.013, Two 0.975 ± 0.103; 4 seeds")
    assert level_rules.below(facts(table(tmp_path), rows(new_one=[0.2])), "norm", 1.0) is None, (
        "one seed has no interval"
    )


def test_above_by_the_whole_interval(tmp_path: Path) -> None:
    given = rows(new_one=[1.2, 1.1, 1.3, 1.2], old_one=[0.9, 1.3, 1.0, 1.1])  # 1.200 ± 0.130, 1.075 ± 0.272
    result = level_rules.above(facts(table(tmp_path), given), "norm", 1.0)
    assert result is not None
    assert result.verdict == PARTLY
    assert "One (New) 1.200 ± 0.130, One (Old) 1.075 ± 0.272" in result.measured


@pytest.mark.parametrize(("value", "verdict"), [(0.53, HOLDS), (0.54, UNDECIDED), (0.57, REFUTED)])
def test_near_a_printed_value(tmp_path: Path, value: float, verdict: str) -> None:
    """0.500 ± 0.013 lies within 0.05 of 0.53 as a whole, of 0.54 in part, of 0.57 nowhere."""
    result = level_rules.near(facts(table(tmp_path), rows(new_one=BASE)), "new", ["one"], "norm", value, 0.05)
    assert result is not None
    assert result.verdict == verdict
    assert f"One 0.500 ± 0.013; 4 seeds (printed: {value:.3f}; margin: 0.050)" == result.measured


def test_a_path_that_falls(tmp_path: Path) -> None:
    def path(*values: float) -> dict[str, Any]:
        return {"seed": len(values), "values": {}, "history": {"norms.words": list(values)}}

    given: Rows = {
        ("new", "one", ""): [path(1.0, 0.9, 0.8), path(1.0, 0.81), path(1.0, 0.79)],
        ("new", "two", ""): [path(1.0, 1.1), path(1.0, 1.2), {"seed": 9, "error": "training diverged"}],
    }
    result = level_rules.falls(facts(table(tmp_path), given), "norms.words")
    assert result is not None
    assert result[:2] == (PARTLY, "1 of 2 fall: One 1.000 → 0.800, Two 1.000 → 1.150; 2 to 3 seeds")


@pytest.mark.parametrize(("expected", "verdict"), [("usually", PARTLY), ("occasionally", PARTLY), ("never", REFUTED)])
def test_failed_runs_are_counted(tmp_path: Path, expected: Any, verdict: str) -> None:
    """new: one diverged, one's loss rose, one is another failure and does not count; old: one of three diverged."""

    def run(*losses: float, error: str = "") -> dict[str, Any]:
        return {"seed": 0, **({"error": error} if error else {"values": {}, "history": {"loss": list(losses)}})}

    diverged = run(error="training diverged: the loss is nan in epoch 1, step 10")
    given: Rows = {
        ("new", "one", ""): [diverged, run(1.0, 2.0), run(error="the process that ran it was ended")],
        ("old", "one", ""): [diverged, run(1.0, 0.5), run(1.0, 0.4)],
    }
    result = level_rules.unstable(facts(table(tmp_path), given), ["new", "old"], expected)
    assert result is not None
    assert result[:2] == (verdict, "failed: New: 2 of 2 runs (34 to 100 %); Old: 1 of 3 runs (6 to 79 %)")


SPEED = """
kind = "speed"
measures = ["speed"]
[options]
beside = "apln"
[methods.pow]
title = "Pow"
form = "pow"
[methods.average]
form = "average"
[corpora.small]
title = "2 × 3 × 4"
shape = [2, 3, 4]
[corpora.large]
title = "2 × 3 × 8"
shape = [2, 3, 8]
[settings.cpu]
title = "CPU"
machine = "cpu"
"""


def test_speeds_against_a_bound(tmp_path: Path) -> None:
    def speeds(*values: float) -> list[dict[str, Any]]:
        return [{"seed": seed, "values": {"speed": value}} for seed, value in enumerate(values)]

    given: Rows = {
        ("pow", "small", "cpu"): speeds(0.10, 0.11, 0.12),
        ("pow", "large", "cpu"): speeds(0.5, 0.6, 0.7),
        ("average", "small", "cpu"): speeds(0.2, 0.22, 0.24),
    }
    speed_table = table(tmp_path, SPEED)
    result = level_rules.speed(facts(speed_table, given), "apln", "pow", at_most=0.2)
    assert result is not None
    assert result.verdict == PARTLY
    assert result.measured.startswith("1 of 2: Pow · CPU, 2 × 3 × 4: 0.110 ± 0.025; ")
    twice = level_rules.speed(facts(speed_table, given), "pow", "average", at_least=1.9)  # by seed: 2, 2 and 2
    assert twice is not None
    assert twice.verdict == HOLDS
    assert "(1 not measured yet)" in twice.measured
    bounds = 0.95, 1.05
    sides = [
        level_rules.bounded(Interval(3, mean, half), *bounds) for mean, half in ((1, 0.04), (1.04, 0.2), (1.2, 0.1))
    ]
    assert sides == [1, 0, -1]


def test_printed_numbers_against_ours(tmp_path: Path) -> None:
    """Ours 90.0 ± 1.3 and 60.0 …: one of two printed numbers (90, 80) is covered, and the order is the same."""
    given = rows(new_one=[0.90, 0.91, 0.89, 0.90], old_one=FAR)
    result = order_rules.printed(facts(table(tmp_path), given))
    assert result is not None
    assert result.verdict == HOLDS
    assert result.measured.startswith("1 of 2 printed numbers within our intervals")
    assert "ours minus theirs on average: One, Accuracy −9.99" in result.measured  # (0 − 19.975) / 2


def test_intervals_that_cover_almost_anything_are_not_counted(tmp_path: Path) -> None:
    """90 and 80 are printed, ten points apart; 90.0 ± 1.6 distinguishes them, 80 ± 9.9 does not, for either method."""
    toy_table, sharp = table(tmp_path), [0.90, 0.91, 0.89, 0.90]
    for middle in (0.80, 0.60):
        wide = [middle - 0.04, middle + 0.04, middle]
        result = order_rules.printed(facts(toy_table, rows(new_one=sharp, old_one=wide)))
        assert result is not None
        assert result.verdict == HOLDS
        left_out = "1 not counted: two seeds, or wider than the range of the printed numbers of the column"
        assert result.measured.startswith(f"1 of 1 printed number within our intervals ({left_out}); ")
    nothing = order_rules.printed(facts(toy_table, rows(new_one=[0.8, 0.9, 1.0], old_one=[0.7, 0.8, 0.9])))
    assert nothing is not None
    assert nothing.verdict == UNDECIDED
    assert "0 of 0 printed numbers within our intervals (2 not counted: " in nothing.measured


def test_two_seeds_do_not_agree_with_a_printed_number(tmp_path: Path) -> None:
    toy_table = table(tmp_path)
    result = order_rules.printed(facts(toy_table, rows(new_one=[0.899, 0.901], old_one=FAR)))
    assert result is not None
    assert result.verdict == REFUTED
    assert result.measured.startswith("0 of 1 printed number within our intervals (1 not counted: ")
    assert "One, Accuracy −9.99" in result.measured, "means are means"


def test_two_methods_have_no_rank_correlation(tmp_path: Path) -> None:
    result = order_rules.printed(facts(table(tmp_path), rows(new_one=[0.90, 0.91, 0.89, 0.90], old_one=FAR)))
    assert result is not None
    assert "; no rank correlation with fewer than 3 methods in a column; " in result.measured
    assert "0.00;" not in result.measured


def test_a_difference_from_printed_numbers_that_rounds_to_zero_has_no_sign(tmp_path: Path) -> None:
    given = rows(new_one=[0.90001, 0.91001, 0.89001, 0.90001], old_one=[0.80001, 0.81001, 0.79001, 0.80001])
    result = order_rules.printed(facts(table(tmp_path), given))
    assert result is not None
    assert result.measured.endswith("One, Accuracy 0.00")
    above = order_rules.printed(facts(table(tmp_path), rows(new_one=[0.91, 0.92, 0.90, 0.91])))
    assert above is not None
    assert above.measured.endswith("One, Accuracy +1.00")


def test_equal_values_share_their_mean_rank() -> None:
    assert order_rules.ranks([3.0, 1.0, 3.0, 2.0]) == [3.5, 1.0, 3.5, 2.0]
    column = [(Interval(2, value, 0.1), other) for value, other in ((1.0, 10.0), (2.0, 30.0), (3.0, 20.0))]
    assert order_rules.rank_correlation(column) == pytest.approx(0.5)  # 1 − 6·(0 + 1 + 1) / (3·8)
