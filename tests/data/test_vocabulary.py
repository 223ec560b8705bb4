"""The vocabulary: which words enter, in what order, and their ids."""

from __future__ import annotations

import numpy as np
import pytest

from regard.data import vocabulary
from regard.data.vocabulary import SPECIALS, UNKNOWN, Vocabulary

TEXTS = [["b", "a", "c"], ["b", "a", "d"], ["b"]]


def test_words_are_sorted_by_count_then_alphabetically() -> None:
    assert Vocabulary.build(TEXTS, min_count=1).words == ("b", "a", "c", "d")


def test_rare_words_enter_only_if_kept() -> None:
    assert Vocabulary.build(TEXTS).words == ("b", "a")
    assert Vocabulary.build(TEXTS, keep={"d", "never seen"}).words == ("b", "a", "d")


def test_size_is_limited_to_the_most_frequent() -> None:
    assert Vocabulary.build(TEXTS, min_count=1, max_size=3).words == ("b", "a", "c")


def test_the_rarest_words_are_forgotten_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "MOST_COUNTED", 4)
    texts = [["a", "a", "b", "b"], ["c", "kept", "d"], ["a", "c"]]  # after the second there are five
    assert Vocabulary.build(texts, min_count=1, keep={"kept"}).words == ("a", "b", "c", "kept")
    assert Vocabulary.build(texts, min_count=2, keep={"kept"}).words == ("a", "b", "kept")


def test_overlong_words_never_enter() -> None:
    assert Vocabulary.build([["x" * 101, "y" * 100]] * 3, keep={"x" * 101}).words == ("y" * 100,)


def test_ids_leave_room_for_padding_and_unknown() -> None:
    vocabulary = Vocabulary(("b", "a"))
    ids = vocabulary.ids(["a", "zzz", "b"])
    assert (UNKNOWN, SPECIALS, len(vocabulary)) == (1, 2, 4)
    assert ids.dtype == np.int32
    assert ids.tolist() == [3, UNKNOWN, 2]
    assert vocabulary.ids([]).shape == (0,)
    assert "a" in vocabulary
    assert "zzz" not in vocabulary


def test_order_of_texts_changes_nothing() -> None:
    assert Vocabulary.build(TEXTS, 1) == Vocabulary.build(TEXTS[::-1], 1)


@pytest.mark.parametrize(("options", "name"), [({"min_count": 0}, "min_count"), ({"max_size": -1}, "max_size")])
def test_invalid_limits_are_refused(options: dict[str, int], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Vocabulary.build(TEXTS, **options)  # type: ignore[arg-type]


def test_a_word_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="expected distinct words, got 'a' twice"):
        Vocabulary(("a", "b", "a"))
