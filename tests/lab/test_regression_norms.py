"""p in rating regression: sides of 1 and the comparison with classification, counted on rows made for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from regard_lab.claims import regression_blocks
from regard_lab.claims.regression_blocks import CLASSIFICATION, REGRESSION
from regard_lab.claims.table_folder import TableFolder
from regard_lab.rows import CellKey, Row

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
NOISE = (0.001, -0.001, 0.002, -0.002, 0.0)


def folder(
    monkeypatch: pytest.MonkeyPatch, means: Mapping[str, Mapping[tuple[str, str], Sequence[float]]]
) -> TableFolder:
    """Five rows per cell with these means of p: over words, and over sentences if there is a second."""
    of_folder = TableFolder(EXPERIMENTS)

    def rows(name: str) -> Mapping[CellKey, Sequence[Row]]:
        return {
            (method, corpus, ""): [
                {
                    "seed": seed,
                    "values": {
                        key: value + noise for key, value in zip(("norm", "norm_sentences"), several, strict=False)
                    },
                }
                for seed, noise in enumerate(NOISE)
            ]
            for (method, corpus), several in means[name].items()
        }

    monkeypatch.setattr(of_folder, "rows", rows)
    return of_folder


def test_cells_are_counted_by_the_side_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made = folder(
        monkeypatch,
        {
            REGRESSION: {
                ("cnn-apln", "imdb"): [0.97],
                ("lstm-apln", "imdb"): [1.03],
                ("cnn-apln", "scaledata"): [1.0],
                ("han-apln", "imdb"): [0.98, 0.95],
            },
            CLASSIFICATION: {("cnn-apln", "imdb"): [1.01], ("lstm-apln", "imdb"): [1.02]},
        },
    )
    assert regression_blocks.summary(made) == (
        "In rating regression p at the best epoch is between 0.97 and 1.03, on either side of 1: "
        "its interval lies below 1 in 2 and above 1 in 1 of 4 combinations"
    )
    text = regression_blocks.blocks(made)["regression-norms"]
    assert "2 of 4 intervals of rating regression lie below 1, 1 above it and 1 contain it" in text
    assert "over sentences, 1 of 1 lie below it. The means are between 0.950 and 1.030; 4 of 5 differ" in text
    assert "In 1 of 2 combinations that have both tasks, p is lower in regression" in text
    rows = [line for line in text.splitlines() if line.startswith("| IMDB |")]
    assert rows == [
        "| IMDB | regression | **0.970 ± 0.002 (5)** | **1.030 ± 0.002 (5)** | **0.980 ± 0.002 (5)** | **0.950 ± 0.002 (5)** |",
        "| IMDB | classification | **1.010 ± 0.002 (5)** | **1.020 ± 0.002 (5)** |  |  |",
    ]
    assert "| Scale data | regression | 1.000 ± 0.002 (5) |" in text, "not bold: it contains 1"


def test_the_published_rows_have_cells_on_both_sides() -> None:
    found = regression_blocks.levels(TableFolder(EXPERIMENTS), REGRESSION)
    assert found["cnn-apln", "norm", "yelp_small"].side == -1
    assert found["lstm-apln", "norm", "vader_tweets"].side == 1
