"""The verdicts of PROTOCOL.md, section 3, condition by condition, on differences made for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from claimed import facts, rows, table

from regard_lab.claims import difference_rules, level_rules
from regard_lab.claims.conditions import Condition, corrected_sides, from_values, judge, seeds_to_leave
from regard_lab.claims.differences import Difference, finding, make_family
from regard_lab.claims.differences import judge as judge_family
from regard_lab.claims.equality import judge_equality, judge_no_gain
from regard_lab.claims.verdicts import HOLDS, NOT_FOUND, PARTLY, REFUTED, UNDECIDED, Given
from regard_lab.measures import MEASURES
from regard_lab.statistics import paired

ACCURACY = MEASURES["accuracy"]
NOISE = (-0.002, 0.001, 0.002, -0.001, 0.0)  # of five seeds
ONE, TWO = ("new", "one", ""), ("new", "two", "")


def difference(
    mean: float, noise: float = 1.0, paper: float | None = 0.02, cell: tuple[str, str, str] = ONE
) -> Difference:
    values = {seed: mean + noise * value for seed, value in enumerate(NOISE)}
    test = paired(values, dict.fromkeys(values, 0.0))
    assert test is not None
    return Difference(f"by {mean:g}", test, (cell,), paper, 0.01)


@pytest.fixture
def given(tmp_path: Path) -> Given:
    return facts(table(tmp_path), {})


def verdict(given: Given, *tests: Difference, **further: str) -> str:
    family = make_family(tests)
    assert family is not None
    return judge_family(given, family, **further)[0]  # type: ignore[arg-type]


def test_holds_above_zero_and_the_margin(given: Given) -> None:
    assert verdict(given, difference(0.02), difference(0.021), difference(0.019)) == HOLDS


def test_a_confirmed_effect_below_the_margin_is_partly(given: Given) -> None:
    assert verdict(given, difference(0.006), difference(0.0061), difference(0.0059)) == PARTLY


def test_one_confirmed_in_the_opposite_direction_prevents_holds(given: Given) -> None:
    assert verdict(given, *[difference(0.05)] * 6, difference(-0.02)) == PARTLY


def test_claims_about_all_need_every_mean_and_half_confirmed(given: Given) -> None:
    tests = [*[difference(0.02)] * 5, difference(-0.001, noise=4)]
    assert verdict(given, *tests) == HOLDS
    assert verdict(given, *tests, need="all") == PARTLY
    assert verdict(given, *tests[:5], difference(0.001, noise=4), need="all") == HOLDS
    assert verdict(given, *tests[:5], difference(0.001, noise=4), need="significant") == PARTLY


def test_partly_comes_before_refuted_and_says_so(given: Given) -> None:
    family = make_family([difference(0.005), *[difference(-0.005)] * 3])
    assert family is not None
    word, why = judge_family(given, family)
    assert word == PARTLY
    assert why.startswith("1 of 4 confirmed, 3 in the opposite direction; the order decides: “refuted” would apply too")


def test_equivalence_and_an_excluded_effect_refute(given: Given) -> None:
    """0.000 ± 0.001, where the paper has 0.02."""
    family = make_family([difference(0.0, noise=0.5), difference(0.0005, noise=0.5), difference(-0.0005, noise=0.5)])
    assert family is not None
    word, why = judge_family(given, family)
    assert word == REFUTED
    assert why == "the pooled interval excludes the paper's effect, and equivalence is shown"


def test_equivalence_without_an_excluded_effect_does_not_refute(given: Given) -> None:
    """The paper's own effect is next to nothing: the interval includes it."""
    tests = [difference(mean, 0.5, paper=0.0004) for mean in (0.0, 0.0005, -0.0005)]
    assert verdict(given, *tests) == UNDECIDED


def test_an_excluded_effect_alone_does_not_refute(given: Given) -> None:
    """0.004 ± 0.020: below 0.05, but neither within the margin of 0.01 nor below 0."""
    family = make_family([difference(mean, 6.0, paper=0.05) for mean in (0.004, 0.012, -0.004)])
    assert family is not None
    word, why = judge_family(given, family)
    assert word == UNDECIDED
    assert why == "the pooled interval excludes the paper's effect, but neither equivalence nor the opposite is shown"


def test_the_opposite_refutes(given: Given) -> None:
    assert verdict(given, difference(-0.03), difference(-0.031), difference(-0.029)) == REFUTED


def test_the_word_depends_on_the_data_and_on_generality(given: Given) -> None:
    opposite = [difference(-0.03, cell=ONE), difference(-0.031, cell=TWO)]
    assert verdict(given, *opposite) == NOT_FOUND, "two is a proxy"
    general = Given(given.table, given.rows, given.book, general=True)
    assert verdict(general, *opposite) == REFUTED, "a claim of generality meets the opposite effect"
    assert verdict(general, *[difference(0.0, 0.5), difference(0.0005, 0.5, cell=TWO)]) == NOT_FOUND, "only equivalence"


def test_undecided_names_the_seeds_that_would_decide(given: Given) -> None:
    result = finding(given, [difference(0.004, 12.0), difference(-0.003, 12.0)], ACCURACY, 2)
    assert result is not None
    assert result.verdict == UNDECIDED
    assert result.needed.startswith("seeds for 80 % power at the paper's effect: ")
    assert "paper +2.00, margin 1.00" in result.measured


def test_without_an_effect_undecided_says_why_it_has_no_number(given: Given) -> None:
    tests = [difference(mean, 12.0, paper=None)._replace(margin=0.0) for mean in (0.004, -0.003)]
    result = finding(given, tests, ACCURACY, 2)
    assert result is not None
    assert result.verdict == UNDECIDED
    assert result.needed.endswith("neither the paper nor the protocol names an effect for this measure")


def test_seeds_put_the_interval_beyond_the_nearer_bound() -> None:
    """Mean 0.78, SD 0.08, bounds 1 and 3: a t-test of 0.22 needs few seeds; one of 0.02 many."""
    values = [0.70, 0.86, 0.78, 0.70, 0.86]
    few, many = seeds_to_leave(values, 1.0, 3.0), seeds_to_leave(values, 0.8, 3.0)
    assert few is not None
    assert many is not None
    assert few < 5 < 100 < many
    assert seeds_to_leave([0.5], 0.0, 1.0) is None


def test_without_printed_numbers_the_margin_counts(given: Given) -> None:
    tests = [difference(mean, 0.5, paper=None) for mean in (0.0, 0.0005, -0.0005)]
    assert verdict(given, *tests) == REFUTED
    no_margin = [test._replace(margin=0.0) for test in tests]
    assert verdict(given, *no_margin) == UNDECIDED, "nothing was set in advance that it could be within"


def test_absence_of_proof_does_not_show_that_there_is_no_difference(given: Given) -> None:
    def of(*tests: Difference) -> str:
        result = judge_equality(given, tests, ACCURACY, len(tests))
        assert result is not None
        return result.verdict

    assert of(difference(0.0, 0.5), difference(0.0005, 0.5)) == HOLDS
    assert of(difference(0.004, 12.0), difference(-0.003, 12.0)) == UNDECIDED, "version 0: holds"
    assert of(difference(-0.03), difference(-0.031)) == REFUTED
    assert of(difference(-0.03), difference(0.0, 0.5)) == PARTLY


def test_a_pooled_difference_alone_speaks_against_equality(given: Given) -> None:
    """No single one is confirmed after the correction (p is 0.02 of six), together they are."""
    tests = [difference(mean, 10.0) for mean in (-0.020, -0.018, -0.016, -0.019, -0.017, -0.021)]
    family = make_family(tests)
    assert family is not None
    assert not any(family.sides)
    result = judge_equality(given, tests, ACCURACY, 6)
    assert result is not None
    assert result.verdict == REFUTED
    assert "the pooled interval excludes 0" in result.why


def test_no_gain_needs_a_bound_on_the_gain(given: Given) -> None:
    def of(*tests: Difference) -> str:
        result = judge_no_gain(given, tests, ACCURACY, len(tests))
        assert result is not None
        return result.verdict

    assert of(difference(-0.03), difference(-0.031)) == HOLDS
    assert of(difference(0.004, 12.0), difference(-0.003, 12.0)) == UNDECIDED
    assert of(difference(0.03), difference(0.031)) == REFUTED


def condition(side: int, p: float | None, cell: tuple[str, str, str] = ONE) -> Condition:
    return Condition("", "", cell, side, p)


def test_all_conditions_need_no_correction_and_some_do(given: Given) -> None:
    weak = condition(1, 0.04)
    assert judge(given, [weak] * 4)[0] == HOLDS
    assert corrected_sides([weak] * 4) == [0] * 4
    assert judge(given, [*[weak] * 3, condition(0, 0.5)])[0] == UNDECIDED
    assert judge(given, [condition(1, 0.001), condition(0, 0.5)])[0] == PARTLY


def test_half_contradicted_refutes(given: Given) -> None:
    against, undecided = condition(-1, 0.001), condition(0, 0.5)
    assert judge(given, [against, undecided])[0] == REFUTED
    assert judge(given, [against, undecided, undecided])[0] == UNDECIDED
    assert judge(given, [against, condition(0, 0.5, TWO)])[0] == NOT_FOUND


def test_two_seeds_that_agree_prove_nothing() -> None:
    agreeing = from_values("", "", ONE, [1.0, 1.0])
    three = from_values("", "", ONE, [1.0, 1.0, 1.0])
    assert agreeing is not None
    assert three is not None
    assert (agreeing.side, three.side) == (0, 1)


def test_a_vacuous_method_is_shown_and_not_counted(tmp_path: Path) -> None:
    def run(last: float) -> dict[str, object]:
        return {"seed": 0, "values": {}, "history": {"loss": [1.0, last]}}

    given_rows = {("new", "one", ""): [run(2.0)] * 3, ("old", "one", ""): [run(0.5)] * 3}
    counted = level_rules.unstable(facts(table(tmp_path), given_rows), ["new", "old"], "usually")  # type: ignore[arg-type]
    vacuous = facts(table(tmp_path), given_rows, vacuous=("old",))  # type: ignore[arg-type]
    shown = level_rules.unstable(vacuous, ["new", "old"], "usually")
    assert counted is not None
    assert shown is not None
    assert (counted.verdict, shown.verdict) == (PARTLY, HOLDS)
    assert "Old (vacuous): 0 of 3 runs" in shown.measured


def test_errors_are_pooled_on_one_scale(tmp_path: Path) -> None:
    """On `two` ratings have a tenth of the range: a difference of 0.001 there counts as 0.01."""
    given = facts(table(tmp_path), rows(new_two=[0.5, 0.501, 0.499], old_two=[0.51, 0.512, 0.508]))
    book = given.book.__class__(given.book.version, given.book.margins, {"paper/two": 0.002}, given.book.tiers)
    result = difference_rules.better(Given(given.table, given.rows, book), "rmse", pairs=[["new", "old"]])
    assert result is not None
    assert result.pooled is not None
    assert result.pooled.mean == pytest.approx(0.1)
    assert result.margin == pytest.approx(0.02)
