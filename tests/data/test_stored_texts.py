"""Examples and encoded texts that may be on disk: the same as lists of them, in whole and in part."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.data import spilling_array
from regard.data.collate import in_order, shuffled
from regard.data.labels import Labels
from regard.data.spilling_array import SpillingArray
from regard.data.stored_examples import StoredExamples
from regard.data.stored_texts import StoredTexts, chosen_texts, costs, extents, store_texts
from regard.data.tokenizer import Indexed, Tokenizer
from regard.data.vocabulary import Vocabulary
from regard.errors import InputError
from regard.records import Example

EXAMPLES = [
    Example("one two. Three four!\n\nfive", "a", 1),
    Example("", None, 2),
    Example("ähnlich 好 \ud83d", "1", 4, weight=2.5),
    Example("one", 1.0, 7),
    Example("two one. One", ("a", "b"), 8, weight=0.5),
    Example("three", (), 9),
]
WORDS = Vocabulary(("one", "two", "three", ".", "!"))


@pytest.fixture(params=[0, 1 << 26], ids=["on disk", "in memory"], autouse=True)
def _limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spilling_array, "IN_MEMORY", request.param)


def test_examples_are_those_that_were_given() -> None:
    stored = StoredExamples(iter(EXAMPLES))
    assert list(stored) == EXAMPLES
    assert [type(example.label) for example in stored] == [type(example.label) for example in EXAMPLES]
    assert stored[-1] == EXAMPLES[-1]
    assert list(stored[1:3]) == EXAMPLES[1:3]
    mask = np.array([True, False, True, False, False, True])
    assert list(stored.take(mask)) == list(stored.take(np.array([0, 2, 5]))) == EXAMPLES[::2][:2] + EXAMPLES[5:]
    with pytest.raises(IndexError):
        stored[6]


def test_labels_are_read_without_texts() -> None:
    labels, expected = StoredExamples(EXAMPLES)[1:].labels, Labels.of(EXAMPLES[1:])
    assert (labels.rows, labels.sets, labels.codes.tolist()) == (expected.rows, expected.sets, expected.codes.tolist())


def test_weights_are_replaced_and_the_original_stays() -> None:
    stored = StoredExamples(EXAMPLES)
    weighted = stored.weighted(np.arange(6, dtype=np.float32) / 3)
    assert [example.weight for example in weighted] == (np.arange(6, dtype=np.float32) / 3).tolist()
    assert list(stored) == EXAMPLES


def test_no_examples() -> None:
    stored = StoredExamples([])
    assert list(stored) == []
    assert len(stored.labels) == 0
    assert len(store_texts(Tokenizer(WORDS), stored, "a.csv")) == 0


def alike(one: Indexed, other: Indexed) -> bool:
    pairs = zip((one.ids, *one.shape), (other.ids, *other.shape), strict=True)
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_stored_texts_are_encoded_and_batched_as_a_list(levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.data.stored_texts.BLOCK", 7)
    rng = np.random.default_rng(0)
    words = np.array(["one", "two", "three", ". One", "\n\nTwo", "other"])
    texts = [" ".join(rng.choice(words, rng.integers(0, 30))) for _ in range(100)]
    tokenizer = Tokenizer(WORDS, levels)
    expected = tokenizer.encode_each(texts)
    stored = store_texts(tokenizer, StoredExamples(Example(text) for text in texts), "a.csv")
    assert all(map(alike, stored, expected))
    assert costs(stored).tolist() == costs(expected).tolist()
    assert extents(stored).tolist() == extents(expected).tolist()
    for plan in (lambda some: in_order(some, 8), lambda some: shuffled(some, 8, 1, 3)):
        assert [rows.tolist() for rows in plan(stored)] == [rows.tolist() for rows in plan(expected)]
    rows = np.array([99, 3, 3, 0])
    assert all(map(alike, chosen_texts(stored, rows), chosen_texts(expected, rows)))
    assert all(map(alike, stored[10:20], expected[10:20]))


def test_an_error_names_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def encode(self, text: str) -> Indexed:
            if text == "one":
                raise InputError("expected another text")
            return Indexed(np.array([1], dtype=np.int32))

        def encode_each(self, texts: list[str]) -> list[Indexed]:
            return [self.encode(text) for text in texts]

    monkeypatch.setattr("regard.data.stored_texts.BLOCK", 2)
    tokenizer: Any = Refusing()
    with pytest.raises(InputError, match=r"a\.csv, row 7: expected another text"):
        store_texts(tokenizer, StoredExamples(EXAMPLES), "a.csv")


@given(st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=9))
def test_texts_without_words_are_texts(lists: list[list[int]]) -> None:
    texts = [Indexed(np.array(ids, dtype=np.int32)) for ids in lists]
    assert all(map(alike, StoredTexts([texts] if texts else []), texts))


def test_a_full_disk_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    spill = SpillingArray(np.int32, 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(InputError, match=r"expected room .*, got No space left on device; .* TMPDIR"):
        spill.append(np.arange(3))
