"""Holding out: every example on one side, stratified by label, never all of a label."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import splitting
from regard.data.splitting import FEWEST, hold_out
from regard.records import Example

LABELS = st.lists(st.sampled_from("abcdef"), min_size=FEWEST, max_size=80)
FRACTIONS = st.floats(0.01, 0.9)


def examples(labels: list[str] | str) -> list[Example]:
    return [Example(f"text {row}", label, row) for row, label in enumerate(labels, 1)]


def labels_of(examples: list[Example]) -> Counter[str | float | None]:
    return Counter(example.label for example in examples)


@given(LABELS, FRACTIONS, st.integers(0, 99), st.booleans())
def test_every_example_is_on_one_side_in_order(labels: list[str], fraction: float, seed: int, by_label: bool) -> None:
    given_ones = examples(labels)
    kept, held = hold_out(given_ones, fraction, seed, by_label)
    assert sorted([*kept, *held], key=lambda example: example.row) == given_ones
    for side in (kept, held):
        assert [example.row for example in side] == sorted(example.row for example in side)
    assert hold_out(given_ones, fraction, seed, by_label) == (kept, held)


@given(LABELS, FRACTIONS, st.integers(0, 99))
def test_no_label_is_held_out_completely(labels: list[str], fraction: float, seed: int) -> None:
    kept, _ = hold_out(examples(labels), fraction, seed, by_label=True)
    assert set(labels_of(kept)) == set(labels)


@given(st.lists(st.integers(10, 40), min_size=1, max_size=6), st.floats(0.01, 0.9), st.randoms(use_true_random=False))
def test_each_label_is_held_out_in_proportion(sizes: list[int], fraction: float, rng: object) -> None:
    labels = [label for label, size in zip("abcdef", sizes, strict=False) for _ in range(size)]
    rng.shuffle(labels)  # type: ignore[attr-defined]
    _, held = hold_out(examples(labels), fraction, 0, by_label=True)
    counts = labels_of(held)
    assert all(abs(counts[label] - fraction * size) <= 1 for label, size in zip("abcdef", sizes, strict=False))
    assert abs(len(held) - fraction * len(labels)) <= 0.5 + 1e-9


def test_large_labels_make_up_for_small_ones() -> None:
    labels = [*"vwxyz", *"a" * 45]  # five labels of one example each
    kept, held = hold_out(examples(labels), 0.1, 0, by_label=True)
    assert labels_of(held) == {"a": 5}
    assert len(kept) == 45


def test_without_labels_the_fraction_is_of_all_texts() -> None:
    _, held = hold_out(examples("a" * 30 + "b" * 70), 0.2, 0, by_label=False)
    assert len(held) == 20


def test_the_seed_determines_the_split() -> None:
    rows = {tuple(example.row for example in hold_out(examples("ab" * 50), 0.1, seed, True)[1]) for seed in range(5)}
    assert len(rows) == 5


@pytest.mark.parametrize(("count", "fraction"), [(0, 0.5), (FEWEST - 1, 0.5), (100, 0.0)])
def test_nothing_is_held_out_of_few_texts_or_with_fraction_zero(count: int, fraction: float) -> None:
    given_ones = examples(("ab" * count)[:count])
    assert hold_out(given_ones, fraction, 0, by_label=True) == (given_ones, [])


def test_of_very_many_texts_a_fixed_number_is_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "MOST", 50)
    groups = np.repeat(np.arange(2, dtype=np.int32), [800, 200])
    held = splitting.disjoint_rows(groups, 0.1, 3, 0)
    assert [int(rows.sum()) for rows in held] == [50, 50, 50]
    assert [int(rows[800:].sum()) for rows in held] == [10, 10, 10]
    assert np.sum(held, axis=0).max() == 1
