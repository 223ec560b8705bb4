"""Corpora that are changed before training: right counts, no repetition, deterministic."""

from __future__ import annotations

from collections import Counter

import pytest

from regard.data.words import forms
from regard.errors import InputError
from regard.records import Example
from regard_lab.tables.corpus_makers import (
    CORPUS_MAKERS,
    apportion,
    balanced,
    keys_of,
    padded,
    part,
    skewed,
    synthetic,
)


def texts(**counts: int) -> list[Example]:
    labels = [label for label, count in counts.items() for _ in range(count)]
    return [Example(f"text {row}", label, row) for row, label in enumerate(labels, 1)]


def classes(examples: list[Example]) -> dict[str, int]:
    return dict(Counter(str(example.label) for example in examples))


def test_padding_fills_up_to_a_length_and_leaves_longer_texts() -> None:
    short, long = padded([Example("so good", "1"), Example("one two three four", "0")], "train", length=4)
    assert forms(short.text) == ["so", "good", "_", "_"]
    assert long.text == "one two three four"


def test_balanced_and_skewed_have_the_same_total_without_repetition() -> None:
    """Shares 1:2:4 of 100 each: the last class allows 175 in all (25 + 50 + 100)."""
    examples = texts(a=100, b=100, c=100)
    even, odd = balanced(examples, "train", ratio=2.0), skewed(examples, "train", ratio=2.0)
    assert classes(odd) == {"a": 25, "b": 50, "c": 100}
    assert sorted(classes(even).values()) == [58, 58, 59]
    assert len(even) == len(odd) == len({example.row for example in odd}) == len({example.row for example in even})
    assert [example.row for example in odd] == sorted(example.row for example in odd)


def test_the_rarest_class_limits_both() -> None:
    """10 of class a: balanced allows 20, and skewed 1:3 of 10 and 90 allows 40; both take 20."""
    examples = texts(a=10, b=90)
    assert classes(balanced(examples, "train", ratio=3.0)) == {"a": 10, "b": 10}
    assert classes(skewed(examples, "train", ratio=3.0)) == {"a": 5, "b": 15}
    assert classes(skewed(examples, "train", ratio=3.0, texts=8)) == {"a": 2, "b": 6}


def test_the_same_every_time_and_other_texts_for_another_seed() -> None:
    examples = texts(a=40, b=40)
    once, again = (skewed(examples, "train", ratio=2.0) for _ in range(2))
    assert once == again
    assert once != skewed(examples, "train", ratio=2.0, seed=1)


def test_one_class_cannot_be_balanced() -> None:
    with pytest.raises(InputError, match="expected texts of two or more classes, got 1"):
        balanced(texts(a=3), "train")
    with pytest.raises(InputError, match=r"ratio: expected a finite number above 0, got 0\.0"):
        skewed(texts(a=3, b=3), "train", ratio=0.0)


def test_a_part_is_the_first_or_random_training_texts() -> None:
    examples = texts(a=10, b=10)
    assert part(examples, "train", texts=3) == examples[:3]
    assert part(examples, "test", texts=3) == examples
    chosen = part(examples, "train", texts=5, seed=1)
    assert len(chosen) == 5 != len([example for example in chosen if example.row <= 5])
    assert part(examples, "train", texts=50) == examples


def test_synthetic_texts_differ_between_splits() -> None:
    result = {split: synthetic([], split, data="two", texts=50) for split in ("train", "dev", "test")}
    assert [len(several) for several in result.values()] == [50, 10, 10]
    assert len({example.text for several in result.values() for example in several}) == 70
    assert {example.label for example in synthetic([], "train", data="classes", texts=9, number=3)} == {"0", "1", "2"}
    assert not synthetic([], "dev", texts=50, chosen="last")
    assert synthetic([], "test", texts=50, chosen="last") == synthetic([], "test", texts=50)


def test_rounding_assigns_every_text() -> None:
    assert apportion(10, [1, 1, 1]) == [4, 3, 3]
    assert sum(apportion(17, [1.0, 2.5, 0.3])) == 17


@pytest.mark.parametrize("name", CORPUS_MAKERS)
def test_every_maker_lists_its_keys(name: str) -> None:
    assert keys_of(name)
    assert not {"examples", "split"} & set(keys_of(name))
