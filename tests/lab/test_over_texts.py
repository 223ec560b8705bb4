"""Comparisons over texts, against arithmetic by hand, a loop over resampled tables, and simulated populations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from regard.models.tasks import Binary, Regression
from regard_lab.comparisons import HEADS, TEXT_HEADS, compare_all, heads_of
from regard_lab.over_texts import Discordant, bootstrap, compare_over_texts, draw_weights
from regard_lab.predictions import pack
from regard_lab.rendering.contents import grouped
from regard_lab.rendering.render import rendered
from regard_lab.results import match
from regard_lab.rows import Row
from regard_lab.tables.table import Table


def test_mcnemar_by_hand() -> None:
    """8 to 2: twice the probability of at most 2 heads in 10 throws, 2 (1 + 10 + 45) / 1024."""
    assert Discordant(8, 2).p == Discordant(2, 8).p == pytest.approx(112 / 1024)
    assert Discordant(0, 0).p == Discordant(3, 3).p == 1
    assert Discordant(40, 70).p == pytest.approx(2 * binom.cdf(40, 110, 0.5))


def classified(seed: int, labels: str, predicted: str, texts: str = "abc") -> Row:
    answers = np.eye(2)[[int(digit) for digit in predicted]]
    packed = pack(Binary(("0", "1")), answers, np.array([float(digit) for digit in labels]), texts)
    return {"method": "m", "corpus": "c", "seed": seed, "predictions": packed, "values": {}}


def test_pairs_of_answers_are_counted_over_seeds() -> None:
    one = [classified(0, "0011", "0010"), classified(1, "0011", "0011"), classified(2, "0011", "1111")]
    other = [classified(1, "0011", "1101"), classified(0, "0011", "0001")]
    result = compare_over_texts(one, other, "accuracy")
    assert result is not None
    assert result.seeds == 2
    assert result.discordant == (1 + 3, 1)  # seed 0: text 3 is won and text 4 lost; seed 1: texts 1, 2 and 3 are won
    assert result.difference == pytest.approx((0 + 0.75) / 2)
    assert result.low <= result.difference <= result.high


def test_an_rmse_difference_has_the_sign_of_the_rmse() -> None:
    def rated(seed: int, error: float) -> Row:
        stars = np.arange(1.0, 6)
        packed = pack(Regression(0.0, 1.0), (stars + error)[:, None], stars, "abc")
        return {"method": "m", "corpus": "c", "seed": seed, "predictions": packed, "values": {}}

    result = compare_over_texts([rated(0, 0.5), rated(1, 0.7)], [rated(0, 0.2), rated(1, 0.2)], "rmse")
    assert result is not None
    assert result.difference == pytest.approx(0.4)
    assert (result.low, result.high) == pytest.approx(
        (0.3, 0.5)
    )  # errors do not differ between texts, only seeds are drawn
    assert result.discordant is None


def test_other_texts_and_other_measures_are_not_compared() -> None:
    one = [classified(0, "01", "01")]
    assert compare_over_texts(one, [classified(0, "01", "01", "other")], "accuracy") is None
    assert compare_over_texts(one, [classified(1, "01", "01")], "accuracy") is None
    assert compare_over_texts(one, one, "macro_f") is None
    old: Row = {"method": "m", "corpus": "c", "seed": 0, "values": {"accuracy": 1.0}}
    assert compare_over_texts(one, [old], "accuracy") is None


def test_weights_count_draws_with_replacement() -> None:
    weights = draw_weights(np.random.default_rng(0), 4000, 5)
    assert (weights.sum(1) == 5).all()
    assert weights.mean(0) == pytest.approx(np.ones(5), abs=0.06)
    assert weights.var(0) == pytest.approx(np.full(5, 0.8), abs=0.08)  # binomial: 5 draws with probability 1/5


@pytest.mark.parametrize("root", [False, True])
def test_the_interval_is_that_of_a_loop_over_resampled_tables(root: bool) -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(60)  # some texts are hard for everybody
    first, second = ((rng.random((6, 60)) < hard * scale).astype(float) for scale in (0.5, 0.7))
    shape: Callable[[Any], Any] = np.sqrt if root else np.positive
    drawn = []
    for _ in range(6000):
        seeds, texts = rng.integers(6, size=6), rng.integers(60, size=60)
        one, other = first[np.ix_(seeds, texts)], second[np.ix_(seeds, texts)]
        drawn.append((shape(one.mean(1)) - shape(other.mean(1))).mean())
    difference, low, high = bootstrap(first, second, root, draws=6000)
    assert difference == pytest.approx((shape(first.mean(1)) - shape(second.mean(1))).mean())
    assert (low, high) == pytest.approx(np.quantile(drawn, (0.025, 0.975)), abs=0.1 * (high - low))


def test_the_interval_covers_the_difference_in_the_population() -> None:
    """Texts and seeds have effects of their own. An interval over seeds alone would cover the difference far less often."""
    rng, covered, narrow, trials = np.random.default_rng(2), 0, 0, 200
    for _ in range(trials):
        of_text, of_seed = rng.normal(0, 1, 80), rng.normal(0, 0.2, (10, 1))
        second = np.zeros((10, 80))
        first = 0.3 + of_text + of_seed + rng.normal(0, 0.5, (10, 80))
        _, low, high = bootstrap(first, second, root=False, draws=300)
        covered += low <= 0.3 <= high
        means = first.mean(1)
        narrow += abs(means.mean() - 0.3) <= 2.26 * means.std(ddof=1) / np.sqrt(10)
    assert 0.9 <= covered / trials <= 0.99
    assert narrow / trials < 0.8


def test_a_table_shows_texts_only_with_predictions(toy: Table, rows_of: Callable[[Table, int], list[Any]]) -> None:
    rows = rows_of(toy, 2)
    without = compare_all(toy, grouped(match(toy, rows)))
    assert heads_of(without) == HEADS
    assert all(len(one.words) == len(HEADS) for one in without)
    assert "McNemar" not in rendered(toy, match(toy, rows))["table.md"]
    for row in rows:
        if row["corpus"] == "films":
            row["predictions"] = classified(0, "0011", "0011" if row["method"] == "plain" else "0010")["predictions"]
    results = match(toy, rows)
    compared = compare_all(toy, grouped(results))
    assert heads_of(compared) == HEADS + TEXT_HEADS
    assert {len(one.words) for one in compared} == {len(HEADS + TEXT_HEADS)}
    by_key = {(one.corpus, one.measure): one for one in compared}
    assert by_key["films", "accuracy"].words[-2:] == ("0.00 … +75.00", "0.500")  # 2 to 0
    assert by_key["films", "macro_f"].words[-2:] == by_key["meals", "accuracy"].words[-2:] == ("", "")
    files = rendered(toy, results)
    assert all("McNemar" in files[f"table.{ending}"] for ending in ("md", "html", "tex"))
