"""The dictionary against a Counter: ids, counts, growth, pruning, and words with equal keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.kernels.compiling import compiled
from regard.kernels.dictionary import Dictionary, _key

WORD = st.one_of(
    st.text(st.sampled_from("ab\x00"), max_size=9),
    st.text(st.characters(exclude_categories=()), max_size=12),  # surrogates too
)
# Both have the same 64-bit FNV-1a.
TWINS = ("8yn0iYCKYHlIj4-BwPqk", "GReLUrM4wMqfg9yzV3KQ")


def packed(words: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    parts = [word.encode("utf-8", "surrogatepass") for word in words]
    bounds = np.cumsum([0, *map(len, parts)])
    return np.frombuffer(bytearray().join(parts), dtype=np.uint8), bounds[:-1], bounds[1:]


def counted(dictionary: Dictionary) -> dict[str, int]:
    return dict(zip(dictionary.words(), dictionary.counts.tolist(), strict=True))


@given(st.lists(st.lists(WORD, max_size=30), max_size=5))
def test_words_get_ids_in_order_and_are_counted(batches: list[list[str]]) -> None:
    dictionary = Dictionary(slots=2, capacity=1)
    counter: Counter[str] = Counter()
    for batch in batches:
        ids = dictionary.add(*packed(batch))
        counter.update(batch)
        words = dictionary.words()
        assert ids.dtype == np.int32
        assert [words[word_id] for word_id in ids] == batch
    assert words == list(counter) if batches else not len(dictionary)
    assert counted(dictionary) == counter


def test_the_dictionary_grows() -> None:
    words = [f"word {number * number}" for number in range(50_000)]
    dictionary = Dictionary(slots=2, capacity=1)
    assert dictionary.add(*packed(words + words[::-1])).tolist() == [*range(50_000), *range(49_999, -1, -1)]
    assert dictionary.words() == words
    assert set(dictionary.counts.tolist()) == {2}


def test_a_word_may_be_longer_than_the_capacity() -> None:
    dictionary = Dictionary(slots=2, capacity=1)
    dictionary.add(*packed(["a" * 100_000, "b", "a" * 100_000]))
    assert counted(dictionary) == {"a" * 100_000: 2, "b": 1}


def test_words_with_equal_keys_are_distinguished() -> None:
    key = compiled()(_key)
    first, second = (key(np.frombuffer(bytearray(word.encode()), dtype=np.uint8), 0, len(word)) for word in TWINS)
    assert first == second
    dictionary = Dictionary()
    assert dictionary.add(*packed([*TWINS, TWINS[0]])).tolist() == [0, 1, 0]
    assert dictionary.look_up(*packed(TWINS[::-1])).tolist() == [1, 0]


def test_words_with_zero_bytes_differ_by_length() -> None:
    words = ["", "\0", "\0\0", "a", "a\0", "\0" * 7, "\0" * 8, "a" * 7, "a" * 8, "a" * 9]
    assert Dictionary.of(words).words() == words


@given(st.lists(WORD, unique=True), st.lists(WORD))
def test_looking_up_changes_nothing(words: list[str], others: list[str]) -> None:
    dictionary = Dictionary.of(words)
    word_ids = {word: word_id for word_id, word in enumerate(words)}
    for unknown in (-1, 7):
        ids = dictionary.look_up(*packed(words + others), unknown=unknown)
        assert ids.tolist() == [word_ids.get(word, unknown) for word in words + others]
    assert counted(dictionary) == dict.fromkeys(words, 0)


def test_a_word_has_one_id_at_any_position() -> None:
    dictionary = Dictionary.of(["ab"])
    data = np.frombuffer(
        bytearray(b"ab, abcdefgh ab"), dtype=np.uint8
    )  # the last is too close to the end for an 8-byte read
    assert dictionary.look_up(data, np.array([0, 4, 13]), np.array([2, 6, 15])).tolist() == [0, 0, 0]


def test_a_repeated_word_is_rejected() -> None:
    with pytest.raises(ValueError, match="expected distinct words, got 'b' twice"):
        Dictionary.of(["a", "b", "c", "b"])


def test_an_empty_dictionary() -> None:
    dictionary = Dictionary()
    assert dictionary.add(*packed([])).shape == dictionary.look_up(*packed([])).shape == (0,)
    assert dictionary.words() == dictionary.counts.tolist() == dictionary.prune(0).tolist() == []
    assert len(Dictionary.of([])) == 0


def test_pruning_drops_the_rarest_and_keeps_the_order() -> None:
    dictionary = Dictionary()
    dictionary.add(*packed("abbcccdddeeee"))
    assert dictionary.prune(5).tolist() == [0, 1, 2, 3, 4]
    assert dictionary.prune(4).tolist() == [
        -1,
        -1,
        -1,
        -1,
        0,
    ]  # c and d are dropped together, otherwise three would be left
    assert counted(dictionary) == {"e": 4}
    assert dictionary.add(*packed(["c", "e"])).tolist() == [1, 0]
    assert counted(dictionary) == {"e": 5, "c": 1}


def test_pruning_keeps_at_most_half() -> None:
    dictionary = Dictionary()
    dictionary.add(*packed("abbcccdddd"))
    assert dictionary.prune(3).tolist() == [-1, -1, -1, 0]  # half of 3 is 1
    dictionary.add(*packed("aabbb"))
    assert dictionary.prune(2).tolist() == [0, -1, -1]


@given(st.lists(WORD), st.lists(WORD), st.integers(0, 10))
def test_words_kept_are_more_frequent_than_words_dropped(before: list[str], after: list[str], most: int) -> None:
    dictionary = Dictionary(slots=2, capacity=1)
    dictionary.add(*packed(before))
    counter = Counter(before)
    old = dictionary.words()
    new_ids = dictionary.prune(most).tolist()
    kept = [word for word, new_id in zip(old, new_ids, strict=True) if new_id >= 0]
    dropped = [word for word, new_id in zip(old, new_ids, strict=True) if new_id < 0]
    assert dictionary.words() == kept
    assert [new_id for new_id in new_ids if new_id >= 0] == list(range(len(kept)))
    assert len(kept) <= most // 2 if dropped else len(old) <= most
    assert max((counter[word] for word in dropped), default=0) < min((counter[word] for word in kept), default=1 << 60)
    expected = Counter({word: counter[word] for word in kept})
    expected.update(after)
    dictionary.add(*packed(after))
    assert counted(dictionary) == expected
