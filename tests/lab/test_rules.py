"""Verdicts from differences: a table of two methods on two corpora, its numbers checked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from claimed import AXIS, BASE, FAR, SAME, Rows, facts, rows, table

from regard_lab.claims import difference_rules, level_rules
from regard_lab.claims.differences import Difference, make_family, sides
from regard_lab.claims.verdicts import HOLDS, NOT_FOUND, PARTLY, REFUTED, UNDECIDED
from regard_lab.statistics import paired

PAIRS = [["new", "old"]]


@pytest.mark.parametrize(
    ("one", "two", "verdict"),
    [(FAR, FAR, HOLDS), (FAR, SAME, PARTLY), (SAME, SAME, NOT_FOUND), (BASE, BASE, UNDECIDED)],
)
def test_better_depends_on_what_is_confirmed(tmp_path: Path, one: list[float], two: list[float], verdict: str) -> None:
    result = difference_rules.better(
        facts(table(tmp_path), rows(new_one=one, old_one=BASE, new_two=two, old_two=BASE)), "accuracy", pairs=PAIRS
    )
    assert result is not None
    assert result.verdict == verdict
    assert "2 comparisons, 4 seeds" in result.measured
    assert "(paper +2.50, margin 2.00)" in result.measured or one == BASE  # 90 − 80 and 70 − 75, on average


def test_smaller_errors_are_better(tmp_path: Path) -> None:
    given = rows(new_one=BASE, old_one=FAR, new_two=BASE, old_two=FAR)
    assert difference_rules.better(facts(table(tmp_path), given), "rmse", pairs=PAIRS)[0] == HOLDS  # type: ignore[index]
    assert difference_rules.better(facts(table(tmp_path), given), "accuracy", pairs=PAIRS)[0] == NOT_FOUND  # type: ignore[index]


def test_several_measures_are_corrected_for_together(tmp_path: Path) -> None:
    given = rows(new_one=FAR, old_one=BASE)
    both = difference_rules.better(facts(table(tmp_path), given), ["accuracy", "rmse"], pairs=PAIRS, corpora=["one"])
    assert both is not None
    assert both.verdict == PARTLY  # a larger value is better for one measure and worse for the other
    assert "1 in favour, 1 confirmed (p < 0.05, Holm), 1 confirmed in the opposite direction" in both.measured
    assert "(New − Old, One, RMSE) to +10.02 ± 0.08 (New − Old, One, Accuracy)" in both.measured


def test_one_seed_is_not_tested_and_an_incomplete_table_is_marked(tmp_path: Path) -> None:
    assert (
        difference_rules.better(facts(table(tmp_path), rows(new_one=[0.9], old_one=[0.1])), "accuracy", pairs=PAIRS)
        is None
    )
    result = difference_rules.better(facts(table(tmp_path), rows(new_one=FAR, old_one=BASE)), "accuracy", pairs=PAIRS)
    assert result is not None
    assert "1 of 2 comparisons, 4 seeds" in result.measured


def test_the_correction_counts_all_comparisons() -> None:
    """p of one test is 0.03: enough alone, and 0.06 as the smaller of two."""
    middling = Difference("", paired({0: 1.0, 1: 2.0, 2: 3.0, 3: 1.6}, dict.fromkeys(range(4), 0.0)))  # type: ignore[arg-type]
    nothing = Difference("", paired({0: 1.0, 1: -1.0, 2: 0.5}, dict.fromkeys(range(3), 0.0)))  # type: ignore[arg-type]
    assert middling.paired.p is not None
    assert 0.01 < middling.paired.p < 0.05
    assert sides([middling]) == [1]
    assert sides([middling] * 1 + [nothing] * 9) == [0] * 10
    family = make_family([middling, nothing])
    assert family is not None
    assert family.favour == 2


def test_same_if_nothing_is_confirmed(tmp_path: Path) -> None:
    alike = difference_rules.same(facts(table(tmp_path), rows(new_one=SAME, old_one=BASE)), "accuracy", PAIRS)
    other = difference_rules.same(facts(table(tmp_path), rows(new_one=FAR, old_one=BASE)), "accuracy", PAIRS)
    assert alike is not None
    assert other is not None
    assert (alike.verdict, other.verdict) == (HOLDS, REFUTED), "within 0.02, and a tenth apart"


def test_a_gain_that_is_larger_on_one_corpus(tmp_path: Path) -> None:
    """On one the gain is a tenth, on two nothing."""
    given = rows(new_one=FAR, old_one=BASE, new_two=SAME, old_two=BASE)
    result = difference_rules.larger_gain(facts(table(tmp_path), given), "accuracy", PAIRS, [["one", "two"]])
    turned = difference_rules.larger_gain(facts(table(tmp_path), given), "accuracy", PAIRS, [["two", "one"]])
    assert result is not None
    assert turned is not None
    assert (result.verdict, turned.verdict) == (HOLDS, NOT_FOUND)
    assert "+10.02 ± " in result.measured


def test_a_value_that_is_lower_on_one_corpus(tmp_path: Path) -> None:
    given = rows(new_one=BASE, new_two=FAR)
    assert difference_rules.lower_on(facts(table(tmp_path), given), "norm", [["one", "two"]], ["new"])[0] == HOLDS  # type: ignore[index]
    assert difference_rules.lower_on(facts(table(tmp_path), given), "norm", [["two", "one"]], ["new"])[0] == NOT_FOUND  # type: ignore[index]


@pytest.mark.parametrize(
    ("low", "middle", "high", "verdict"),
    [(BASE, FAR, BASE, HOLDS), (BASE, FAR, FAR, PARTLY), (FAR, BASE, FAR, REFUTED), (SAME, BASE, SAME, UNDECIDED)],
)
def test_a_peak_needs_both_ends_lower(
    tmp_path: Path, low: list[float], middle: list[float], high: list[float], verdict: str
) -> None:
    given: Rows = {
        ("m", "one", name): [{"seed": seed, "values": {"accuracy": value}} for seed, value in enumerate(values)]
        for name, values in (("low", low), ("middle", middle), ("high", high))
    }
    result = level_rules.peak(facts(table(tmp_path, AXIS), given), "accuracy", "norm_init", 1.0)
    assert result is not None
    assert result.verdict == verdict
