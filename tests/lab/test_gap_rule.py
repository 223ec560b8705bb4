"""Verdicts from one measure of a model minus another, on numbers checked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from claimed import BASE, FAR, SAME, Rows, facts, table

from regard_lab.claims.order_rules import gap
from regard_lab.claims.verdicts import HOLDS, NOT_FOUND, PARTLY, REFUTED, UNDECIDED


def rows(**accuracies: list[float]) -> Rows:
    """new_one=[…] are the accuracies of `new` on `one` by seed; its norm is `BASE` everywhere."""
    result: Rows = {}
    for name, several in accuracies.items():
        method, corpus = name.split("_")
        pairs = zip(several, BASE, strict=True)
        result[method, corpus, ""] = [
            {"seed": seed, "values": {"accuracy": one, "norm": other}} for seed, (one, other) in enumerate(pairs)
        ]
    return result


@pytest.mark.parametrize(
    ("one", "two", "verdict"),
    [(FAR, FAR, HOLDS), (FAR, SAME, PARTLY), (SAME, SAME, NOT_FOUND), (BASE, BASE, UNDECIDED)],
)
def test_a_gap_between_two_measures(tmp_path: Path, one: list[float], two: list[float], verdict: str) -> None:
    result = gap(facts(table(tmp_path), rows(new_one=one, new_two=two)), "accuracy", "norm", ["new"])
    assert result is not None
    assert result.verdict == verdict
    assert "2 comparisons, 4 seeds" in result.measured


def test_a_decrease_favours_measures_that_should_be_small(tmp_path: Path) -> None:
    """rmse is 0.5 and accuracy 0.6: of errors less is better."""
    given = rows(new_one=FAR)
    for row in given["new", "one", ""]:
        row["values"]["rmse"] = row["values"]["norm"]
    assert gap(facts(table(tmp_path), given), "rmse", "accuracy", ["new"], corpora=["one"])[0] == HOLDS  # type: ignore[index]


def test_the_gap_of_one_model_against_that_of_another(tmp_path: Path) -> None:
    given = rows(new_one=FAR, old_one=SAME)
    result = gap(facts(table(tmp_path), given), "accuracy", "norm", pairs=[["new", "old"]])
    turned = gap(facts(table(tmp_path), given), "accuracy", "norm", pairs=[["old", "new"]])
    assert result is not None
    assert turned is not None
    assert (result.verdict, turned.verdict) == (HOLDS, REFUTED)
    assert "1 of 2 comparisons, 4 seeds" in result.measured
    assert "+10.02 ± " in result.measured
    assert "(New − Old, One)" in result.measured


def test_no_verdict_without_both_measures_or_with_one_seed(tmp_path: Path) -> None:
    assert gap(facts(table(tmp_path), rows(new_one=FAR)), "accuracy", "rmse") is None
    single: Rows = {("new", "one", ""): rows(new_one=FAR)["new", "one", ""][:1]}
    assert gap(facts(table(tmp_path), single), "accuracy", "norm") is None
