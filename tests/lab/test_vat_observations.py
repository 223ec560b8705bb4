"""The observations on VAT in docs/errata.md, from the printed numbers."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "experiments" / "vat"
CLASSES = {"sst2": 2, "subj": 2, "imdb": 2, "yelp_small": 2, "ag_news": 4, "sst1": 5}


def printed(table: str) -> dict[str, dict[str, list[float]]]:
    content: dict[str, dict[str, list[float]]] = tomllib.loads((FOLDER / f"{table}.toml").read_text(encoding="utf-8"))[
        "printed"
    ]
    return content


@pytest.mark.parametrize(("corpus", "classes"), CLASSES.items())
def test_the_printed_judge_is_at_chance_with_five_random_words(corpus: str, classes: int) -> None:
    assert printed("table4")[corpus]["bert-random"][0] == pytest.approx(100 / classes, abs=2)


def test_the_printed_judge_of_the_lstm_is_not() -> None:
    numbers = printed("table4")
    assert all(numbers[corpus]["random"][0] > 100 / classes + 5 for corpus, classes in CLASSES.items())


def test_table_2_is_the_largest_round_of_table_6_in_three_of_four_cases() -> None:
    rounds, accuracies = printed("table6"), printed("table2")
    cases = [(corpus, method) for corpus in rounds for method in rounds[corpus]]
    largest = [max(rounds[corpus][method][1:]) == accuracies[corpus][method][0] for corpus, method in cases]
    assert (len(cases), sum(largest)) == (4, 3)
