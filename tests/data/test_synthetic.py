"""Sun & Lu's synthetic texts: their content, its balance, and that the classes mirror each other."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.synthetic import Deck, TwoClasses, classes, data_one, data_two
from regard.errors import InputError
from regard.records import Example


def words_of(example: Example) -> list[str]:
    return example.text.split(" ")


def deciding(example: Example) -> list[str]:
    return [example.text[start:end] for start, end in example.evidence]


def count_words(examples: list[Example], label: str) -> Counter[str]:
    return Counter(word for example in examples if example.label == label for word in words_of(example))


def mirrored(example: Example) -> tuple[str, ...]:
    swap = {"p": "n", "n": "p"}
    return tuple(swap.get(word[0], word[0]) + word[1:] for word in words_of(example))


def spread(counts: Counter[str], names: list[str]) -> int:
    return max(counts[name] for name in names) - min(counts[name] for name in names)


# --- Data I ---------------------------------------------------------------------------------------------------------


def test_data_one_as_in_the_paper() -> None:
    examples = data_one(2000)
    assert Counter(example.label for example in examples) == {"positive": 1000, "negative": 1000}
    assert [example.row for example in examples] == list(range(1, 2001))
    for example in examples:
        letter, other_letter = ("p", "n") if example.label == "positive" else ("n", "p")
        kinds = Counter(word[0] for word in words_of(example))
        assert kinds == {letter: 2, "o": 10}
        assert len(set(words_of(example))) == 12
        assert [word[0] for word in deciding(example)] == [letter, letter]
        assert kinds[other_letter] == 0
    positive, negative = count_words(examples, "positive"), count_words(examples, "negative")
    assert {positive[f"p{i}"] for i in range(50)} == {40}  # 1000 texts · 2 tokens / 50
    assert {negative[f"n{i}"] for i in range(50)} == {40}
    assert {positive[f"o{i}"] for i in range(1000)} == {10}  # 1000 texts · 10 tokens / 1000
    assert {negative[f"o{i}"] for i in range(1000)} == {10}


SIZES = st.fixed_dictionaries(
    {
        "texts": st.integers(2, 60),
        "seed": st.integers(0, 2**40),
        "positive": st.integers(3, 8),
        "negative": st.integers(3, 8),
        "neutral": st.integers(6, 12),
        "length": st.integers(4, 7),
        "evidence": st.integers(1, 3),
    }
)


def called(arguments: dict[str, Any]) -> dict[str, Any]:
    """All but `texts` and `seed` are options."""
    direct = {name: value for name, value in arguments.items() if name in ("texts", "seed")}
    return {**direct, "options": TwoClasses(**{name: arguments[name] for name in arguments if name not in direct})}


@settings(max_examples=60, deadline=None)
@given(sizes=SIZES)
def test_data_one_uses_every_token_equally_often_up_to_one(sizes: dict[str, int]) -> None:
    examples = data_one(**called(sizes))
    assert len(examples) == sizes["texts"]
    labels = Counter(example.label for example in examples)
    assert abs(labels["positive"] - labels["negative"]) <= 1
    for label, letter in (("positive", "p"), ("negative", "n")):
        counts = count_words(examples, label)
        assert spread(counts, [f"{letter}{i}" for i in range(sizes[label])]) <= 1
        assert spread(counts, [f"o{i}" for i in range(sizes["neutral"])]) <= 1
    for example in examples:
        assert len(words_of(example)) == len(set(words_of(example))) == sizes["length"]
        assert deciding(example) == [word for word in words_of(example) if word[0] == str(example.label)[0]]
        assert len(deciding(example)) == sizes["evidence"]


@pytest.mark.parametrize("make", [data_one, data_two])
def test_two_equal_classes_are_mirror_images(make: Any) -> None:
    examples = make(400, seed=3)
    positive = Counter(tuple(words_of(example)) for example in examples if example.label == "positive")
    negative = Counter(mirrored(example) for example in examples if example.label == "negative")
    assert positive == negative


def test_evidence_has_no_fixed_position() -> None:
    starts = Counter(start == 0 for example in data_one(600) for start, _ in example.evidence)
    assert 0.05 < starts[True] / 1200 < 0.12  # 1 place of 12


@pytest.mark.parametrize("ratio", [0.2, 1.0, 5.0])
def test_ratio_is_the_number_of_positive_texts_per_negative_one(ratio: float) -> None:
    labels = Counter(example.label for example in data_one(1200, options=TwoClasses(ratio=ratio)))
    assert labels["positive"] / labels["negative"] == pytest.approx(ratio)
    assert labels.total() == 1200


def test_skewed_classes_still_use_their_tokens_evenly() -> None:
    examples = data_one(1200, options=TwoClasses(ratio=5))
    assert spread(count_words(examples, "positive"), [f"p{i}" for i in range(50)]) <= 1
    assert spread(count_words(examples, "negative"), [f"n{i}" for i in range(50)]) <= 1


# --- Data II --------------------------------------------------------------------------------------------------------


def test_data_two_lets_a_fifth_of_the_tokens_cross_in_a_tenth_of_the_texts() -> None:
    examples = data_two(2000, seed=1)
    negative = count_words(examples, "negative")
    positive = count_words(examples, "positive")
    assert {negative[f"p{i}"] for i in range(10)} == {10}  # 1000 texts · 0.1 / 10 tokens
    assert {positive[f"n{i}"] for i in range(10)} == {10}
    assert {negative[f"p{i}"] for i in range(10, 50)} == {0}
    assert {positive[f"p{i}"] for i in range(50)} == {40}
    crossing = [e for e in examples if any(word[0] in "pn" and word[0] != str(e.label)[0] for word in words_of(e))]
    assert Counter(example.label for example in crossing) == {"positive": 100, "negative": 100}
    gamma = (positive["p0"] - negative["p0"]) / (positive["p0"] + negative["p0"])
    assert gamma == pytest.approx(0.6)


def test_a_crossing_token_is_not_evidence_and_takes_the_place_of_a_neutral_one() -> None:
    for example in data_two(200, crossing=1.0):
        letter = str(example.label)[0]
        assert Counter(word[0] for word in words_of(example)) == {letter: 2, "n" if letter == "p" else "p": 1, "o": 9}
        assert {word[0] for word in deciding(example)} == {letter}


def test_data_two_without_crossing_is_data_one() -> None:
    assert data_two(100, seed=7, crossing=0.0) == data_one(100, seed=7)


@settings(max_examples=40, deadline=None)
@given(texts=st.integers(2, 300), crossing=st.floats(0, 1), noisy=st.floats(0.05, 1))
def test_crossing_texts_are_the_share_asked_for(texts: int, crossing: float, noisy: float) -> None:
    examples = data_two(texts, options=TwoClasses(20, 30), crossing=crossing, noisy=noisy)
    for label, letter in (("positive", "n"), ("negative", "p")):
        part = [example for example in examples if example.label == label]
        strange = sum(any(word[0] == letter for word in words_of(example)) for example in part)
        assert abs(strange - crossing * len(part)) < 1 + 1e-6
        names = {word for example in part for word in words_of(example) if word[0] == letter}
        assert len(names) <= round(noisy * (30 if letter == "n" else 20))


# --- K classes ------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(number=st.integers(2, 6), extra=st.integers(0, 50), seed=st.integers(0, 99))
def test_classes_are_balanced_and_mirror_images(number: int, extra: int, seed: int) -> None:
    examples = classes(number, number + extra, seed, tokens=5, neutral=20)
    labels = Counter(example.label for example in examples)
    assert set(labels) == {str(k) for k in range(number)}
    assert max(labels.values()) - min(labels.values()) <= 1
    forms = {}
    for k in range(number):
        part = [example for example in examples if example.label == str(k)]
        assert all(word.startswith(f"c{k}t") for example in part for word in deciding(example))
        assert all(word[0] == "o" or word in deciding(e) for e in part for word in words_of(e))
        assert spread(count_words(examples, str(k)), [f"c{k}t{i}" for i in range(5)]) <= 1
        forms[k] = Counter(example.text.replace(f"c{k}t", "t") for example in part)
    assert all(forms[number - 1] <= forms[k] for k in range(number))  # the last has the fewest


def test_neutral_tokens_are_even_over_three_classes() -> None:
    examples = classes(3, 300)
    for k in range(3):
        assert {count_words(examples, str(k))[f"o{i}"] for i in range(1000)} == {1}


# --- dealing and seeds ----------------------------------------------------------------------------------------------


class Backwards:
    """A fake generator that always returns 0."""

    def random(self) -> float:
        return 0.0


def test_deck_never_deals_a_card_twice_in_a_hand() -> None:
    deck = Deck(3, Backwards())  # type: ignore[arg-type]
    hands = [deck.deal(2) for _ in range(6)]
    assert all(len(set(hand)) == 2 for hand in hands)
    assert Counter(card for hand in hands for card in hand) == {0: 4, 1: 4, 2: 4}


def test_the_same_seed_gives_the_same_texts_on_every_machine() -> None:
    examples = [*data_one(50), *data_two(50), *classes(3, 50)]
    digest = hashlib.sha256("\n".join(f"{e.label} {e.text} {e.evidence}" for e in examples).encode()).hexdigest()
    assert digest == "5babf6ed3b8428b597391e8ff38a464b826e0b9aca5ddefeded92d1a3d224f8a"
    assert data_one(50, seed=1) != data_one(50, seed=2)


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"texts": 1}, "texts: expected a whole number of at least 2.*, got 1"),
        ({"texts": 10.0}, r"texts: expected a whole number.*, got 10\.0"),
        ({"seed": -1}, "seed: expected a whole number of at least 0.*, got -1"),
        ({"positive": 1}, "positive: expected a whole number of at least 2.*, got 1"),
        ({"negative": 0}, "negative: expected .*, got 0"),
        ({"neutral": 9}, "neutral: expected a whole number of at least 10.*, got 9"),
        ({"length": 1}, "length: expected a whole number of at least 2.*, got 1"),
        ({"evidence": 0}, "evidence: expected a whole number of at least 1.*, got 0"),
        ({"ratio": 0.0}, r"ratio: expected a finite number above 0.*, got 0\.0"),
        ({"ratio": float("nan")}, "ratio: expected .*, got nan"),
        ({"ratio": 1000.0}, r"ratio: 1000\.0 leaves one class without a text among 20; use"),
    ],
)
@pytest.mark.parametrize("make", [data_one, data_two])
def test_refusals_name_the_argument_the_value_and_what_is_accepted(
    make: Any, arguments: dict[str, Any], sentence: str
) -> None:
    if make is data_two and "length" in arguments:
        sentence = "length: expected a whole number of at least 3.*, got 1"  # one place more, for the crossing token
    with pytest.raises(InputError, match=sentence):
        make(**called({"texts": 20, **arguments}))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"noisy": 1.5}, r"noisy: expected a share between 0 and 1.*, got 1\.5"),
        ({"crossing": -0.1}, r"crossing: expected a share between 0 and 1.*, got -0\.1"),
        ({"crossing": float("nan")}, "crossing: expected .*, got nan"),
        ({"noisy": 0.001}, r"noisy: expected .*, got 0\.001 of 50 positive and 50 negative tokens"),
    ],
)
def test_data_two_rejects_invalid_shares(arguments: dict[str, float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        data_two(20, **arguments)  # type: ignore[arg-type]


def test_classes_refuses_fewer_than_two_and_fewer_texts_than_classes() -> None:
    with pytest.raises(InputError, match="number: expected a whole number of at least 2, got 1"):
        classes(1, 10)
    with pytest.raises(InputError, match="texts: expected a whole number of at least 4, got 3"):
        classes(4, 3)
    with pytest.raises(InputError, match="tokens: expected a whole number of at least 2, got 1"):
        classes(3, 30, tokens=1)
