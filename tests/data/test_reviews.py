"""The built-in reviews: the bank is valid, the stars follow from the sentences, and they can be learned."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from regard.data.reviews import EVERYWHERE, STRENGTHS, Sentence, bank, fill, reviews, splits, stars
from regard.errors import InputError
from regard.records import Example

OPINIONS = [sentence for sentence in bank().sentences if sentence.strength]
NEUTRAL = [sentence for sentence in bank().sentences if not sentence.strength]


def marked(sentence: Sentence) -> list[str]:
    return [word.lower() for word in re.findall(r"\[(.*?)\]", sentence.template)]


def pattern(sentence: Sentence) -> re.Pattern[str]:
    """A pattern of the sentence in a review, written independently of `fill`, to check it."""
    plain = re.split(r"(\{\w+\})", re.sub(r"[\[\]]", "", sentence.template))
    parts = [f"(?:{'|'.join(bank().slots[p[1:-1]])})" if p.startswith("{") else re.escape(p) for p in plain]
    return re.compile("".join(parts), re.IGNORECASE)


PATTERNS = [(sentence, pattern(sentence)) for sentence in bank().sentences]


def sentences(example: Example) -> list[str]:
    return re.split(r"(?<=\.) ", example.text)


def strengths(example: Example) -> list[int]:
    """The strengths of the sentences of a review, found from its text."""
    result: list[int] = []
    for written in sentences(example):
        fits = {sentence.strength for sentence, form in PATTERNS if form.fullmatch(written)}
        assert len(fits) == 1, written
        result += fits
    return result


# --- the bank -------------------------------------------------------------------------------------------------------


def test_bank_has_enough_sentences_of_every_kind_in_every_domain() -> None:
    counts = Counter((sentence.domain, sentence.strength) for sentence in bank().sentences)
    assert len(bank().domains) == 7
    assert len(counts) == 8 * 5
    assert min(counts.values()) >= 8
    assert len(bank().sentences) == 336


def test_a_review_of_six_opinions_of_one_strength_can_be_written_for_training() -> None:
    for domain in bank().domains:
        for strength in STRENGTHS:
            fitting = [s for s in OPINIONS if s.domain in (domain, EVERYWHERE) and s.strength == strength]
            assert sum(not s.heldout for s in fitting) >= 6
            assert any(s.heldout for s in fitting)


@pytest.mark.parametrize("sentence", bank().sentences, ids=lambda s: s.template)
def test_sentence_is_well_formed(sentence: Sentence) -> None:
    template = sentence.template
    rest = re.sub(r"\[[A-Za-z'-]+\]|\{[a-z]+\}", "", template)  # one word a bracket, no slot within a bracket
    assert not set(rest) & set("[]{}*_")
    assert set(re.findall(r"\{(\w+)\}", template)) <= set(bank().slots)
    assert template.endswith(".")
    assert not re.search(r"[.!?] |\s\s", template), "one sentence, single spaces"
    assert template[0].isupper() or template[0] in "[{"
    assert bool(marked(sentence)) == (sentence.strength != 0)


def test_no_sentence_or_filler_is_repeated() -> None:
    plain = Counter(re.sub(r"[\[\]]", "", sentence.template).lower() for sentence in bank().sentences)
    assert max(plain.values()) == 1
    for fillers in bank().slots.values():
        assert len(set(fillers)) == len(fillers) >= 3


def test_every_slot_is_used_and_no_filler_is_a_deciding_word() -> None:
    used = {name for sentence in bank().sentences for name in re.findall(r"\{(\w+)\}", sentence.template)}
    assert used == set(bank().slots)
    deciding = {word for sentence in OPINIONS for word in marked(sentence)}
    fillers = {word.lower() for values in bank().slots.values() for value in values for word in value.split()}
    assert not deciding & fillers


def test_deciding_words_are_shared_by_domains_and_occur_in_neutral_sentences() -> None:
    deciding = {word for sentence in OPINIONS for word in marked(sentence)}
    places = {word: {s.domain for s in OPINIONS if word in marked(s)} for word in deciding}
    assert sum(len(domains) > 1 for domains in places.values()) / len(places) > 0.8
    innocent = {word for sentence in NEUTRAL for word in re.findall(r"[a-z]+", sentence.template.lower())}
    assert len(deciding & innocent) >= 15


def test_some_deciding_words_count_both_ways() -> None:
    good = {word for sentence in OPINIONS if sentence.strength > 0 for word in marked(sentence)}
    bad = {word for sentence in OPINIONS if sentence.strength < 0 for word in marked(sentence)}
    both = good & bad
    assert {"not", "never", "good", "worth"} <= both


def test_a_fifth_of_the_opinions_is_held_out_and_their_deciding_words_are_known_from_training() -> None:
    kept = [sentence for sentence in OPINIONS if sentence.heldout]
    known = {word for sentence in OPINIONS if not sentence.heldout for word in marked(sentence)}
    words = [word for sentence in kept for word in marked(sentence)]
    assert len(kept) == len(OPINIONS) // 5
    assert not any(sentence.heldout for sentence in NEUTRAL)
    assert sum(word in known for word in words) / len(words) > 0.95


# --- one sentence ---------------------------------------------------------------------------------------------------


def test_fill_marks_words_at_their_final_positions() -> None:
    text, spans = fill("{person} was [not] [happy] with the {item}.", random.Random(1))
    assert [text[a:b] for a, b in spans] == ["not", "happy"]
    assert text[0].isupper()
    assert "{" not in text
    assert "[" not in text


def test_fill_gives_slots_of_one_name_different_fillers() -> None:
    rng = random.Random(0)
    for _ in range(50):
        first, second = fill("{colour} {colour}", rng)[0].lower().split()
        assert first != second


@pytest.mark.parametrize(
    ("given_strengths", "expected"),
    [
        ([-2, -2], 1),
        ([-2, -1], 1),  # mean −1.5
        ([-1, -1], 2),
        ([-2, 1, -1], 2),  # mean −0.67
        ([-2, 2], 3),
        ([1, -1, 1], 3),  # mean 0.33
        ([1, 1], 4),
        ([2, 2, -2], 4),  # mean 0.67
        ([1, 2], 5),
        ([2, 2, 2, 1, -1], 4),  # mean 1.2
    ],
)
def test_stars_follow_the_mean_strength(given_strengths: list[int], expected: int) -> None:
    assert stars(given_strengths) == expected


# --- reviews --------------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(count=st.integers(1, 40), seed=st.integers(0, 2**40))
def test_reviews_are_balanced_distinct_and_numbered(count: int, seed: int) -> None:
    examples = reviews(count, seed)
    assert [example.row for example in examples] == list(range(1, count + 1))
    assert len({example.text for example in examples}) == count
    counts = Counter(example.label for example in examples)
    sizes = [counts[str(star)] for star in range(1, 6)]
    assert max(sizes) - min(sizes) <= 1
    assert sum(sizes) == count


def test_labels_shapes_and_evidence_follow_from_the_sentences_of_each_review() -> None:
    for example in reviews(300, seed=5):
        all_strengths = strengths(example)
        opinions = [strength for strength in all_strengths if strength]
        assert 3 <= len(all_strengths) <= 7
        assert 1 <= len(all_strengths) - len(opinions) <= 3
        assert example.label == str(stars(opinions))
        expected = []
        start = 0
        for written in sentences(example):
            sentence = next(s for s, form in PATTERNS if form.fullmatch(written))
            at = 0
            for word in re.findall(r"\[(.*?)\]", sentence.template):
                at = re.compile(rf"\b{word}\b").search(written, at).start()  # type: ignore[union-attr]
                expected.append((start + at, start + at + len(word)))
                at += len(word)
            start += len(written) + 1
        assert list(example.evidence) == expected


def test_reviews_are_shuffled_without_repeated_sentences() -> None:
    examples = reviews(400, seed=2)
    mixed = 0
    for example in examples:
        opinions = [strength for strength in strengths(example) if strength]
        mixed += min(opinions) < 0 < max(opinions)
        used = [next(s for s, f in PATTERNS if f.fullmatch(w)) for w in sentences(example)]
        assert len(set(used)) == len(used)
    assert 0.4 < mixed / len(examples) < 0.9


def test_the_same_seed_gives_the_same_reviews_on_every_machine() -> None:
    """Pinned: published figures about this corpus are valid as long as this passes."""
    digest = hashlib.sha256("\n".join(f"{e.label} {e.text} {e.evidence}" for e in reviews(200)).encode()).hexdigest()
    assert digest == "1720f5d514198b992e0e6729211a4df6de5df5324b91fa94c9f87b3617c877a7"
    assert [e.text for e in reviews(20, seed=1)] != [e.text for e in reviews(20, seed=2)]


def test_fewer_reviews_are_the_first_of_more() -> None:
    assert reviews(10, seed=3) == reviews(30, seed=3)[:10]


# --- splits ---------------------------------------------------------------------------------------------------------


def test_splits_share_no_text_and_are_balanced() -> None:
    parts = splits(seed=1)
    assert {name: len(part) for name, part in parts.items()} == {"train": 1600, "dev": 200, "test": 200}
    assert list(parts) == ["train", "dev", "test"]
    assert len({example.text for part in parts.values() for example in part}) == 2000
    for part in parts.values():
        assert set(Counter(example.label for example in part).values()) == {len(part) // 5}
        assert part[0].row == 1


def test_training_never_sees_a_held_out_sentence_and_testing_does() -> None:
    kept = [form for sentence, form in PATTERNS if sentence.heldout]
    parts = splits(seed=4, train=300, dev=100, test=100)
    shares = {
        name: sum(any(form.fullmatch(written) for form in kept for written in sentences(e)) for e in part) / len(part)
        for name, part in parts.items()
    }
    assert shares["train"] == 0
    assert 0.5 < shares["dev"] < 0.95
    assert 0.5 < shares["test"] < 0.95


def test_test_set_stays_when_the_training_set_grows() -> None:
    small, large = splits(train=50, dev=20, test=30), splits(train=400, dev=60, test=30)
    assert small["test"] == large["test"]


def test_a_linear_model_learns_the_stars_in_part() -> None:
    parts = splits()
    model = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10, max_iter=3000))
    model.fit([example.text for example in parts["train"]], [int(str(example.label)) for example in parts["train"]])
    unseen = parts["dev"] + parts["test"]
    truth = [int(str(example.label)) for example in unseen]
    gaps = [abs(int(a) - b) for a, b in zip(model.predict([example.text for example in unseen]), truth, strict=True)]
    assert 0.45 < sum(gap == 0 for gap in gaps) / len(gaps) < 0.8
    assert 0.85 < sum(gap <= 1 for gap in gaps) / len(gaps) < 0.99


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, -3, 2.5, True])
def test_reviews_rejects_an_invalid_count(count: int) -> None:
    with pytest.raises(InputError, match=rf"count: expected a whole number of at least 1.*, got {count}"):
        reviews(count)


def test_splits_names_the_invalid_argument() -> None:
    with pytest.raises(InputError, match=r"dev: expected .*, got 0"):
        splits(dev=0)
    with pytest.raises(InputError, match=r"seed: expected .*, got -1"):
        splits(seed=-1)
