"""Splits for originals that have none."""

from __future__ import annotations

from collections import Counter

from regard.corpora.splits import dealt, divided, sampled, with_dev, without_repeats


def test_groups_are_divided_in_proportion() -> None:
    rows = [{"text": str(row), "label": row % 3 == 0} for row in range(60)]  # 20 of one label, 40 of the other
    parts = divided(rows, lambda row: row["label"], (0.7, 0.1, 0.2))
    assert {part: Counter(row["label"] for row in part_rows) for part, part_rows in parts.items()} == {
        "train": {True: 14, False: 28},
        "dev": {True: 2, False: 4},
        "test": {True: 4, False: 8},
    }
    assert all(some == sorted(some, key=lambda row: int(row["text"])) for some in parts.values()), "in the order given"
    assert parts == divided(rows, lambda row: row["label"], (0.7, 0.1, 0.2)), "the same every time"


def test_a_dev_part_is_as_large_as_asked_for() -> None:
    parts = with_dev([{"text": str(row)} for row in range(5452)], 545, 5452)
    assert {part: len(rows) for part, rows in parts.items()} == {"train": 4907, "dev": 545}


def test_a_sample_is_drawn_uniformly() -> None:
    assert sampled(range(3), 5) == [0, 1, 2]
    drawn = sampled(iter(range(100_000)), 1000)
    assert len(set(drawn)) == 1000
    assert drawn == sorted(drawn)
    # of 1,000 draws some 250 ± 3·√(1000·¼·¾) = 41 fall into each quarter
    assert all(209 <= sum(low <= row < low + 25_000 for row in drawn) <= 291 for low in range(0, 100_000, 25_000))


def test_a_repeated_text_stays_in_the_last_split() -> None:
    texts = {"train": "aabcd", "dev": "bbe", "test": "ca"}
    parts = without_repeats({part: [{"text": text} for text in rows] for part, rows in texts.items()})
    assert {part: "".join(row["text"] for row in rows) for part, rows in parts.items()} == {
        "train": "d",
        "dev": "bbe",
        "test": "ca",
    }


def test_one_of_ten_rows_goes_to_dev_and_one_to_test() -> None:
    parts = {part: [row["n"] for row in rows] for part, rows in dealt(lambda: ({"n": n} for n in range(100))).items()}
    assert sorted(n for rows in parts.values() for n in rows) == list(range(100))
    assert [n // 10 for n in parts["dev"]] == [n // 10 for n in parts["test"]] == list(range(10))
    assert len({n % 10 for n in parts["dev"]}) > 3, "at random, not always the same of the ten"
