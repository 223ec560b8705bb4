"""Near-duplicates with different labels, compared with all pairs."""

from __future__ import annotations

import random

import numpy as np

from regard.doubts.duplicates import SIMILAR, Pair, contradictions, jaccard, minhashes, normalised, shingles

WORDS = [f"w{number}" for number in range(40)]


def find(texts: list[str], labels: list[int]) -> list[Pair]:
    return contradictions(texts, lambda a, b: labels[a] != labels[b])


def test_case_spaces_and_punctuation_do_not_matter() -> None:
    assert find(["Too  LATE, again!", "too late again", "too late again"], [0, 1, 0]) == [
        Pair(0, 1, 1.0),
        Pair(1, 2, 1.0),
    ]


def test_equal_labels_do_not_contradict_each_other() -> None:
    assert find(["too late again"] * 3, [1, 1, 1]) == []


def test_texts_without_words_and_other_texts_are_not_similar() -> None:
    assert find(["?!", "…", "one", "two three"], [0, 1, 0, 1]) == []
    assert find([], []) == []


def test_one_changed_word_of_many_is_found() -> None:
    long = [f"word{number}" for number in range(60)]
    changed = [*long[:30], "other", *long[31:]]
    (pair,) = find([" ".join(long), " ".join(changed)], [0, 1])
    # 58 triples each; the changed word is in three of them: 55 shared of 61
    assert pair == Pair(0, 1, 55 / 61)


def test_every_text_with_a_contradiction_is_in_a_pair() -> None:
    rng = random.Random(3)
    texts, labels = [], []
    for _ in range(40):
        original = rng.choices(WORDS, k=rng.randint(1, 50))
        for _ in range(rng.randint(1, 5)):
            copy = list(original)
            if rng.random() < 0.5:
                copy[rng.randrange(len(copy))] = rng.choice(WORDS)
            texts.append(" ".join(copy))
            labels.append(rng.randint(0, 2))
    sets = [shingles(normalised(text)) for text in texts]
    count = range(len(texts))
    expected = {a for a in count for b in count if labels[a] != labels[b] and jaccard(sets[a], sets[b]) >= SIMILAR}
    pairs = find(texts, labels)
    assert expected
    assert expected <= {row for pair in pairs for row in (pair.first, pair.second)}
    assert all(labels[pair.first] != labels[pair.second] and pair.similarity >= SIMILAR for pair in pairs)


def test_many_equal_texts_give_a_linear_number_of_pairs() -> None:
    labels = [row % 3 for row in range(3000)]
    assert len(find(["the same text again"] * 3000, labels)) < 2 * 3000


def test_minhashes_agree_as_often_as_sets_overlap() -> None:
    values = np.random.default_rng(0).integers(1, 1 << 63, 400, dtype=np.uint64)
    one, other = minhashes([values[:300], values[100:]])
    assert abs(float((one == other).mean()) - 200 / 400) < 0.2  # 80 hash functions: a standard error of 0.06
