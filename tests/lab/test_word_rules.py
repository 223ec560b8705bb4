"""Verdicts from the weights of words in quoted texts, over seeds, on numbers checked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claimed import Rows, facts, table

from regard_lab.claims import word_rules
from regard_lab.claims.verdicts import HOLDS, REFUTED


def test_a_word_with_more_weight_than_others(tmp_path: Path) -> None:
    def row(seed: int, good: float) -> dict[str, Any]:
        tokens = [{"text": "Good", "weight": good}, {"text": "but", "weight": 0.1 + seed / 100}]
        return {"seed": seed, "values": {}, "texts": [{"tokens": tokens}]}

    given: Rows = {("new", "one", ""): [row(seed, 0.8) for seed in range(3)]}
    result = word_rules.heavier(facts(table(tmp_path), given), "one", ["new"], "good", ["but"])
    assert result is not None
    assert result.verdict == HOLDS
    assert "+0.690 ± " in result.measured  # 0.8 − (0.10 + 0.11 + 0.12) / 3
    assert word_rules.heavier(facts(table(tmp_path), given), "one", ["new"], "missing", ["but"]) is None


def drawn(*weights: float) -> list[dict[str, Any]]:
    """Rows by seed with the weights of a text of four words: "Fine", "lot", and two others that share the rest."""
    rows = []
    for seed, fine in enumerate(weights):
        forms = {"Fine": fine, "lot": fine / 2, "a": 0.5 - 0.75 * fine, ".": 0.5 - 0.75 * fine}
        tokens = [{"text": text, "weight": weight} for text, weight in forms.items()]
        rows.append({"seed": seed, "values": {}, "texts": [{"tokens": tokens}]})
    return rows


@pytest.mark.parametrize(("words", "verdict"), [(["fine", "lot"], HOLDS), (["a", "."], REFUTED)])
def test_words_with_more_than_uniform_weight(tmp_path: Path, words: list[str], verdict: str) -> None:
    given: Rows = {("new", "one", ""): drawn(0.50, 0.52, 0.48)}
    result = word_rules.rests_on(facts(table(tmp_path), given), {"one": words}, methods=["new"])
    assert result is not None
    assert result.verdict == verdict
    side = "+0.250" if verdict == HOLDS else "−0.250"  # 0.75 or 0.25, where two words of four have 0.5
    assert f"difference {side} ± " in result.measured
    assert "(New − uniform weights, “" in result.measured


def test_words_with_more_weight_under_one_method(tmp_path: Path) -> None:
    given: Rows = {("new", "one", ""): drawn(0.50, 0.52, 0.48), ("old", "one", ""): drawn(0.30, 0.30, 0.30)}
    words = {"one": ["fine", "lot"], "two": ["fine"]}
    result = word_rules.rests_on(facts(table(tmp_path), given), words, pairs=[["new", "old"]])
    turned = word_rules.rests_on(facts(table(tmp_path), given), words, pairs=[["old", "new"]])
    assert result is not None
    assert turned is not None
    assert (result.verdict, turned.verdict) == (HOLDS, REFUTED)
    assert result.measured.startswith("1 of 2 comparisons, 3 seeds")
    assert "+0.300 ± 0.075 (New − Old, “fine”, “lot”)" in result.measured
    assert word_rules.rests_on(facts(table(tmp_path), given), {"one": ["missing"]}, ["new"]) is None
