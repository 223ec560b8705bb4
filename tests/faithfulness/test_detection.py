from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judges import scored

from regard.errors import InputError
from regard.faithfulness.detection import detection
from regard.faithfulness.marking import marked_words, of_polarity
from regard.faithfulness.ranking import Cut


def test_rates_by_hand() -> None:
    # top words: c, a, d, b; a and b are marked
    one = scored("a b c d", [0.3, 0.1, 0.4, 0.2])
    detected = detection([one], [[(0, 3)]], [1, 2, 4]).found
    assert detected.precision.values.tolist() == [[0, 1 / 2, 2 / 4]]
    assert detected.recall.values.tolist() == [[0, 1 / 2, 2 / 2]]
    assert detected.f.values.tolist() == [[0, 2 * 1 / (2 + 2), 2 * 2 / (4 + 2)]]


def test_means_are_over_texts_and_texts_without_marks_are_left_out() -> None:
    texts = [scored("a b", [2.0, 1.0], 1), scored("a b c", [2.0, 1.0, 0.0], 0), scored("a b", [1.0, 2.0], 1)]
    detected = detection(texts, [[(0, 1)], [], [(0, 1)]], [1])
    assert detected.left_out == 1
    assert detected.found.precision.mean().tolist() == [0.5]
    assert detected.found.precision.intervals()[0].n == 2
    assert np.isnan(detected.found.f.values[1, 0])
    assert detected.found.of([True, False, False]).recall.mean().tolist() == [1.0]
    assert detected.random.precision.mean().tolist() == [0.5]


def test_cuts_beyond_the_length_take_all_words() -> None:
    detected = detection([scored("a b c", [1.0, 1.0, 1.0])], [[(2, 3)]], [5, Cut(1.0, True)])
    assert detected.found.precision.values.tolist() == [[1 / 3, 1 / 3]]
    assert detected.found.recall.values.tolist() == [[1, 1]]
    assert detected.random.f.values.tolist() == detected.found.f.values.tolist()


def test_no_text_has_a_mark() -> None:
    detected = detection([scored("a", [1.0]), scored("", [])], [[], []])
    assert detected.left_out == 2
    assert np.isnan(detected.found.f.mean()).all()


def test_words_that_share_a_character_with_a_span_are_marked() -> None:
    words = [(0, 4), (5, 9), (10, 12)]
    assert marked_words(words, [(3, 6)]).tolist() == [True, True, False]
    assert marked_words(words, [(4, 5), (12, 12), (6, 6)]).tolist() == [False, False, False]
    assert marked_words(words, []).tolist() == [False, False, False]
    assert marked_words([], [(0, 1)]).tolist() == []


def test_offsets_count_characters_in_right_to_left_text_and_emoji() -> None:
    arabic = scored("هذا فيلم رائع", [0.0, 0.1, 0.9])
    emoji = scored("film 👍🏽 ok", [0.0, 0.9, 0.1])
    detected = detection([arabic, emoji], [[(9, 13)], [(5, 7)]], [1]).found
    assert detected.f.values.tolist() == [[1], [1]]


def test_evidence_of_the_texts_class() -> None:
    assert of_polarity([(0, 3, 1), (4, 6, 0), (8, 9, 1)], 1) == [(0, 3), (8, 9)]


def test_spans_outside_of_the_text_are_refused() -> None:
    one = scored("a b", [1.0, 2.0])
    for span in ((0, 4), (-1, 2), (2, 1)):
        with pytest.raises(InputError, match=r"evidence, text 2: expected spans within the text of 3 characters, got"):
            detection([one, one], [[], [span]])
    with pytest.raises(InputError, match="evidence: expected spans for 2 texts, got 1"):
        detection([one, one], [[]])


@pytest.mark.parametrize("spans", [[3], ["ab"], [None], [(1,)], [(0, 1, 2)], [(0.0, 1.0)], None, 3, "ab", {0: 1}])
def test_anything_but_a_list_of_spans_is_refused(spans: Any) -> None:
    one = scored("a b", [1.0, 2.0])
    with pytest.raises(InputError, match=r"^evidence, text 2: .*\[start, end\)"):
        detection([one, one], [[], spans])


@given(st.lists(st.booleans(), min_size=1, max_size=6).filter(any), st.integers(1, 7))
def test_the_random_expectation_is_the_mean_over_all_choices(gold: list[bool], k: int) -> None:
    text = " ".join("w" * len(gold))
    spans = [(2 * index, 2 * index + 1) for index, is_marked in enumerate(gold) if is_marked]
    choices = list(combinations(range(len(gold)), min(k, len(gold))))
    every = [scored(text, [float(index in chosen) for index in range(len(gold))]) for chosen in choices]
    detected = detection(every, [spans] * len(every), [k])
    for curve, expected in zip(detected.found, detected.random, strict=True):
        assert curve.mean() == pytest.approx(expected.mean())
