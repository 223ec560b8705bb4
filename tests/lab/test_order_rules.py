"""Verdicts from the order of measures, shares of seeds, printed counts and paths, on numbers checked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claimed import AXIS, BASE, FAR, Rows, facts, rows, table

from regard_lab.claims import difference_rules, level_rules, order_rules
from regard_lab.claims.verdicts import HOLDS, NOT_FOUND, PARTLY, REFUTED, UNDECIDED

ONE = ("new", "one", "")


def of_model(**measures: list[float]) -> Rows:
    seeds = range(len(next(iter(measures.values()))))
    return {
        ONE: [{"seed": seed, "values": {name: values[seed] for name, values in measures.items()}} for seed in seeds]
    }


@pytest.mark.parametrize(
    ("where", "verdict"),
    [
        ([["accuracy", ">", "norm"], ["norm", ">", 0.0]], HOLDS),
        ([["accuracy", ">", "norm"], ["norm", ">", 0.5]], PARTLY),
        ([["accuracy", "<", "norm"]], REFUTED),
        ([["accuracy", "<", 0.7]], HOLDS),
    ],
)
def test_an_order_of_measures(tmp_path: Path, where: list[list[str | float]], verdict: str) -> None:
    given = of_model(accuracy=FAR, norm=BASE)
    result = order_rules.stands(facts(table(tmp_path), given), where)
    assert result is not None
    assert result.verdict == verdict
    assert f"of {len(where)} in the claimed order, 4 seeds" in result.measured


def test_failed_conditions_are_listed_first_and_missing_measures_left_out(tmp_path: Path) -> None:
    given = of_model(accuracy=FAR, norm=BASE)
    result = order_rules.stands(facts(table(tmp_path), given), [["norm", ">", "accuracy"], ["rmse", ">", 0.0]])
    assert result is not None
    assert "0 of 1" in result.measured
    assert "not: One, New, p > Accuracy: 0.500 and 0.600" in result.measured
    assert order_rules.stands(facts(table(tmp_path), given), [["norm", ">", 0.0]], methods=["old"]) is None
    assert order_rules.stands(facts(table(tmp_path), of_model(norm=[1.0])), [["norm", ">", 0.0]]) is None, "one seed"


@pytest.mark.parametrize(("margin", "verdict"), [(-0.12, HOLDS), (-0.10, UNDECIDED), (0.02, REFUTED)])
def test_an_order_with_a_margin(tmp_path: Path, margin: float, verdict: str) -> None:
    """`norm` is a tenth below `accuracy`: above it minus 0.12 with the whole interval, minus 0.10 with half of it."""
    result = order_rules.stands(
        facts(table(tmp_path), of_model(accuracy=FAR, norm=BASE)), [["norm", ">", "accuracy", margin]]
    )
    assert result is not None
    assert result.verdict == verdict
    sign = "−" if margin < 0 else "+"
    assert f"One, New, p > Accuracy {sign} {abs(margin):.3f}: 0.500 and 0.600" in result.measured


def test_an_order_that_must_hold_for_most_only(tmp_path: Path) -> None:
    given = of_model(accuracy=FAR, norm=BASE)
    for bounds, verdict in (([0.4, 0.45, 0.55], HOLDS), ([0.4, 0.55], PARTLY), ([0.55], REFUTED)):
        result = order_rules.stands(
            facts(table(tmp_path), given), [["norm", ">", bound] for bound in bounds], need="most"
        )
        assert result is not None
        assert result.verdict == verdict


@pytest.mark.parametrize(
    ("shown", "verdict"),
    [([1, 1, 1, 1, 0], HOLDS), ([1, 1, 1, 0, 0], UNDECIDED), ([1, 1, 0, 0, 0], REFUTED), ([1, 1, 1, 1, 1], HOLDS)],
)
def test_a_pattern_that_enough_seeds_show(tmp_path: Path, shown: list[float], verdict: str) -> None:
    result = order_rules.often(facts(table(tmp_path), of_model(norm=shown)), ["norm"])
    assert result is not None
    assert result.verdict == verdict
    assert f"p {sum(shown)} of 5" in result.measured


def test_only_one_of_two_patterns_is_shown(tmp_path: Path) -> None:
    given = of_model(norm=[1.0, 1.0], accuracy=[0.0, 1.0])
    result = order_rules.often(facts(table(tmp_path), given), ["norm", "accuracy"])
    assert result is not None
    assert result.verdict == PARTLY


def test_numbers_of_a_corpus_equal_the_printed_ones(tmp_path: Path) -> None:
    """Shares are printed as per cent: 90 and 80 on one, 70 and 75 on two."""
    toml = table(tmp_path)
    right = rows(new_one=[0.9], old_one=[0.8])
    assert order_rules.equal(facts(toml, right))[0] == HOLDS  # type: ignore[index]
    assert order_rules.equal(facts(toml, right | rows(new_two=[0.6])))[0] == PARTLY  # type: ignore[index]
    assert order_rules.equal(facts(toml, right | rows(new_two=[0.6])), ["two"])[0] == NOT_FOUND  # type: ignore[index]
    assert order_rules.equal(facts(toml, {})) is None


def test_values_that_rise_and_fall_during_training(tmp_path: Path) -> None:
    def row(seed: int, end: float) -> dict[str, Any]:
        return {"seed": seed, "history": {"omega.a-a": [0.0, end], "omega.a-b": [0.0, -end]}}

    given = {ONE: [row(0, 1.0), row(1, 1.1), row(2, 0.9)]}
    result = order_rules.moves(facts(table(tmp_path), given), ["omega.a-a"], ["omega.a-b"])
    assert result is not None
    assert (result.verdict, result.measured[:6]) == (HOLDS, "2 of 2")
    assert "a-b 0 → −1" in result.measured
    turned = order_rules.moves(facts(table(tmp_path), given), ["omega.a-a", "omega.a-b"])
    assert turned is not None
    assert turned.verdict == PARTLY
    assert order_rules.moves(facts(table(tmp_path), given), ["omega.b-b"]) is None


def along(low: list[float], middle: list[float], high: list[float]) -> Rows:
    several = {"low": low, "middle": middle, "high": high}
    return {
        ("m", "one", name): [{"seed": seed, "values": {"accuracy": value}} for seed, value in enumerate(values)]
        for name, values in several.items()
    }


def test_settings_against_each_other_by_pairs(tmp_path: Path) -> None:
    toml, given = table(tmp_path, AXIS), along(BASE, FAR, FAR)
    at = [["middle", "low"], ["high", "low"]]
    assert difference_rules.better(facts(toml, given), "accuracy", at=at)[0] == HOLDS  # type: ignore[index]
    assert difference_rules.better(facts(toml, given), "accuracy", at=[["low", "high"]])[0] == REFUTED  # type: ignore[index]
    assert difference_rules.better(facts(toml, given), "accuracy", at=at, methods=["other"]) is None
    assert difference_rules.better(facts(toml, given), "accuracy", settings=["middle", "low"])[0] == HOLDS  # type: ignore[index]


def test_a_setting_with_a_small_loss(tmp_path: Path) -> None:
    """The low one is a tenth worse than the middle one."""
    toml, given = table(tmp_path, AXIS), along(BASE, FAR, FAR)
    assert difference_rules.close(facts(toml, given), "accuracy", [["low", "middle"]], 0.03)[0] == REFUTED  # type: ignore[index]
    assert difference_rules.close(facts(toml, given), "accuracy", [["low", "middle"]], 0.11)[0] == HOLDS  # type: ignore[index]
    assert difference_rules.close(facts(toml, given), "accuracy", [["middle", "low"]], 0.0)[0] == HOLDS  # type: ignore[index]
    assert difference_rules.close(facts(toml, {}), "accuracy", [["middle", "low"]], 0.0) is None
    unsure = along(BASE, [0.50, 0.55, 0.45, 0.50], FAR)  # no worse on average, by 0.064 either way
    assert difference_rules.close(facts(toml, unsure), "accuracy", [["low", "middle"]], 0.03)[0] == UNDECIDED  # type: ignore[index]
    assert difference_rules.close(facts(toml, unsure), "accuracy", [["low", "middle"]], 0.07)[0] == HOLDS  # type: ignore[index]
    assert level_rules.peak(facts(toml, given), "accuracy", "norm_init", 1.0, corpora=["one"])[0] == PARTLY  # type: ignore[index]


def test_a_loss_is_not_a_gain(tmp_path: Path) -> None:
    toml, pairs = table(tmp_path), [["new", "old"]]
    assert difference_rules.no_gain(facts(toml, rows(new_one=BASE, old_one=FAR)), "accuracy", pairs)[0] == HOLDS  # type: ignore[index]
    assert difference_rules.no_gain(facts(toml, rows(new_one=FAR, old_one=BASE)), "accuracy", pairs)[0] == REFUTED  # type: ignore[index]
    assert difference_rules.no_gain(facts(toml, {}), "accuracy", pairs) is None
