"""The hypotheses of the formula question: each verdict on rows made for it, and Fieller's interval."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats

from regard_lab.claims import formula, formula_blocks, formula_figures
from regard_lab.claims.formula import CORPORA, ENCODERS, FORMS, TABLE, fieller, judge_all
from regard_lab.claims.rule_book import RuleBook
from regard_lab.claims.table_folder import TableFolder
from regard_lab.claims.verdicts import HOLDS, PARTLY, REFUTED, UNDECIDED, Given

FOLDER = TableFolder(Path(__file__).parents[2] / "experiments")
NOISE = (0.01, -0.01, 0.02, -0.02, 0.0)
Level = Callable[[str, str], float]


def given(level: Level, accuracy: Level = lambda method, corpus: 0.8) -> Given:
    """Rows of five seeds; `level` is the mean log p of a method on a corpus."""
    rows = {}
    for cell in FOLDER.table(TABLE).cells():
        method, corpus, _ = cell.key
        mean, right = level(method, corpus), accuracy(method, corpus)
        rows[cell.key] = [
            {
                "seed": seed,
                "values": {
                    "log_norm": mean + noise,
                    "log_norm_end": mean + noise,
                    "accuracy": right + (0.1 * noise if "attention" not in method else 0.0),
                    "n": 2000,
                },
                "cuts": [1, 616],
                "curves": {"log_norm.words": [0.0, mean + noise]},
            }
            for seed, noise in enumerate(NOISE)
        ]
    return Given(FOLDER.table(TABLE), rows, RuleBook())  # type: ignore[arg-type]


def expected(method: str, corpus: str) -> float:
    """As the hypotheses say."""
    form = method.partition("-")[2]
    falls = form in ("no-normaliser", "neither") or method in ("lstm-no-root", "han-no-root")
    return -0.2 if falls else 0.08 if form in ("smoothed", "capped") else 0.3


def verdicts(level: Level, **further: Level) -> dict[str, str]:
    return {one.name: one.verdict for one in judge_all(given(level, **further))}


def test_rows_as_the_hypotheses_say_confirm_all() -> None:
    assert verdicts(expected) == dict.fromkeys(("H1", "H2", "H3", "H4", "H5", "H6"), HOLDS)


def test_each_hypothesis_is_refuted_by_what_the_protocol_names() -> None:
    opposite = {
        "H1": lambda method, corpus: (
            -0.2 if method == "cnn-printed" and corpus in CORPORA[:2] else expected(method, corpus)
        ),
        "H2": lambda method, corpus: (
            0.2 if method == "lstm-no-normaliser" and corpus in CORPORA[:2] else expected(method, corpus)
        ),
        "H3": lambda method, corpus: (
            -0.2 if method == "cnn-no-root" and corpus in CORPORA[:2] else expected(method, corpus)
        ),
        "H4": lambda method, corpus: 0.28 if method in ("lstm-smoothed", "lstm-capped") else expected(method, corpus),
        "H5": lambda method, corpus: -0.2 if method == "lstm-replica" else expected(method, corpus),
    }
    for name, level in opposite.items():
        changed = verdicts(level)
        assert changed[name] == REFUTED, name
        assert set(changed.values()) == {HOLDS, REFUTED}, name


def test_one_corpus_of_four_does_not_refute() -> None:
    for method, name in (("cnn-printed", "H1"), ("lstm-no-normaliser", "H2"), ("cnn-no-root", "H3")):

        def level(of: str, corpus: str, method: str = method) -> float:
            return (
                (-1 if expected(of, corpus) > 0 else 1) * 0.2
                if (of, corpus) == (method, "trec")
                else expected(of, corpus)
            )

        assert verdicts(level)[name] == PARTLY, name


def test_a_gain_of_half_a_point_refutes_the_last() -> None:
    assert (
        verdicts(expected, accuracy=lambda method, corpus: 0.81 if method.endswith("neither") else 0.8)["H6"] == REFUTED
    )
    small = verdicts(expected, accuracy=lambda method, corpus: 0.802 if method.endswith("neither") else 0.8)
    assert small["H6"] == HOLDS


def test_nothing_is_decided_without_rows() -> None:
    empty = Given(FOLDER.table(TABLE), {}, RuleBook())
    assert {one.verdict for one in judge_all(empty)} == {UNDECIDED}


def test_the_first_three_are_one_family_of_24() -> None:
    levels = formula.first_family(given(expected))
    assert len(levels) == 3 * 2 * 4
    smallest = min(levels.values(), key=lambda level: level.p)
    assert smallest.corrected == pytest.approx(24 * smallest.p)


def test_fiellers_interval_holds_the_ratios_that_a_test_does_not_reject() -> None:
    pairs = [(0.9, 2.1), (1.1, 1.9), (1.0, 2.2), (1.2, 2.0), (0.8, 1.8)]
    ratio, low, high = fieller(pairs)
    assert ratio == pytest.approx(0.5)
    for edge in (low, high):
        assert stats.ttest_1samp([one - edge * other for one, other in pairs], 0).pvalue == pytest.approx(0.05)
    assert fieller([(1.0, 0.1), (1.2, -0.1), (0.9, 0.05)])[1:] == (-float("inf"), float("inf"))


def test_the_answer_counts_what_is_on_one_side_of_one() -> None:
    text = formula_blocks.answer(given(expected), "In rating regression p stays near 1")
    assert "runs of classification: after 616 updates its 95 % interval lies above 1 in 12 of 12 combinations" in text
    assert "below 1 in none. In rating regression p stays near 1 ([table]" in text
    assert "p falls in 24 of 24, to 0.82–0.82" in text
    assert "in 8 of 8 with recurrent encoders but only in 0 of 4 with a CNN" in text


def test_the_figure_has_every_path() -> None:
    rows = given(expected)
    svg = formula_figures.paths(rows, 616)
    assert svg.count("<polyline") == len(FORMS) * len(ENCODERS) * len(CORPORA) + 2 * len(formula_figures.OTHERS)
    assert "AG's News, HAN, words" in svg or "AG&#x27;s News, HAN, words" in svg


def test_the_page_of_paths_shows_p() -> None:
    text = formula_blocks.path_page(given(expected))
    assert "| LSTM-APLN, as printed | trec | 5 | 1.00 (1.00–1.00) |" in text
    assert "1.35 (1.32–1.38) |" in text  # e^0.3, ± 0.0196
