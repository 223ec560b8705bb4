"""The arithmetic of benchmarks/explanations.py, and that docs/explanations.md has the figures that were measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "benchmarks"
WORTH = np.array([1.0, -2.0, 0.5])


@pytest.fixture(autouse=True)
def benchmarks_on_the_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        yield


def additive(kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.asarray(7 + kept @ WORTH)


def gloves(kept: NDArray[np.bool_]) -> NDArray[np.float64]:
    """One left glove and two right ones; only a pair is worth 1. Shapley values: 2/3, 1/6, 1/6."""
    return np.asarray((kept[:, 0] & kept[:, 1:].any(1)).astype(np.float64))


def test_the_value_of_a_word_in_an_additive_game_is_its_worth() -> None:
    from shapley import exact, sampled

    assert exact(additive, 3).values == pytest.approx(WORTH)
    estimate = sampled(additive, 3, np.random.default_rng(0), pairs=4)
    assert estimate.values == pytest.approx(WORTH)
    assert estimate.errors == pytest.approx(0)
    assert estimate.certain.all()


def test_exact_values_share_a_pair_of_gloves() -> None:
    from shapley import exact

    assert exact(gloves, 3).values == pytest.approx([2 / 3, 1 / 6, 1 / 6])


def test_sampled_values_are_within_their_error_of_the_exact_ones() -> None:
    from shapley import sampled

    estimate = sampled(gloves, 3, np.random.default_rng(1), pairs=4000)
    assert estimate.values.sum() == pytest.approx(1)  # every order distributes the value of the whole
    assert estimate.values == pytest.approx([2 / 3, 1 / 6, 1 / 6], abs=0.02)
    assert (np.abs(estimate.values - [2 / 3, 1 / 6, 1 / 6]) < 4 * estimate.errors).all()


def test_short_texts_get_exact_values() -> None:
    from shapley import shapley

    assert (shapley(gloves, 3, np.random.default_rng(0)).errors == 0).all()


def test_colours_are_wrong_where_the_effect_has_the_other_sign() -> None:
    from word_signs import coloured, top_is_against

    scores, effects = np.array([0.5, -0.4, 0.3, 0.0, 0.1]), np.array([-1.0, -1.0, 1e-6, 1.0, -1.0])
    assert coloured(scores, effects) == (3, 2)  # no effect, and no colour
    assert coloured(scores, effects, top=2) == (2, 1)
    assert top_is_against(scores, effects) == 1
    assert top_is_against(scores, -effects) == 0
    assert np.isnan(top_is_against(-np.abs(scores), effects))


def test_an_unknown_sign_is_not_counted() -> None:
    from word_signs import coloured, compare, top_is_against

    scores, effects = np.array([0.5, 0.4]), np.array([np.nan, -1.0])
    assert coloured(scores, effects) == (1, 1)
    assert np.isnan(top_is_against(scores, effects))
    assert compare([scores], [effects])["top_against"] == {"wrong": 0, "of": 0}


def test_the_page_has_the_measured_tables() -> None:
    from explanation_tables import tables

    page = (ROOT / "docs" / "explanations.md").read_text(encoding="utf-8")
    written = tables(json.loads((FOLDER / "results" / "explanations.json").read_text(encoding="utf-8")))
    assert set(written) == {"signs", "shapley", "faithfulness", "candidates"}
    for name, table in written.items():
        assert table in page, f"{name}: run `python benchmarks/explanations.py table`"
