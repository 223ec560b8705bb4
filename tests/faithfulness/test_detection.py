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
    found = detection([one], [[(0, 3)]], [1, 2, 4]).found
    assert found.precision.values.tolist() == [[0, 1 / 2, 2 / 4]]
    assert found.recall.values.tolist() == [[0, 1 / 2, 2 / 2]]
    assert found.f.values.tolist() == [[0, 2 * 1 / (2 + 2), 2 * 2 / (4 + 2)]]


def test_means_are_of_texts_and_texts_without_gold_are_left_out() -> None:
    texts = [scored("a b", [2.0, 1.0], 1), scored("a b c", [2.0, 1.0, 0.0], 0), scored("a b", [1.0, 2.0], 1)]
    found = detection(texts, [[(0, 1)], [], [(0, 1)]], [1])
    assert found.left_out == 1
    assert found.found.precision.mean().tolist() == [0.5]
    assert found.found.precision.intervals()[0].n == 2
    assert np.isnan(found.found.f.values[1, 0])
    assert found.found.of([True, False, False]).recall.mean().tolist() == [1.0]
    assert found.random.precision.mean().tolist() == [0.5]


def test_more_cuts_than_words_take_all_words() -> None:
    found = detection([scored("a b c", [1.0, 1.0, 1.0])], [[(2, 3)]], [5, Cut(1.0, True)])
    assert found.found.precision.values.tolist() == [[1 / 3, 1 / 3]]
    assert found.found.recall.values.tolist() == [[1, 1]]
    assert found.random.f.values.tolist() == found.found.f.values.tolist()


def test_no_text_has_gold() -> None:
    found = detection([scored("a", [1.0]), scored("", [])], [[], []])
    assert found.left_out == 2
    assert np.isnan(found.found.f.mean()).all()


def test_words_that_a_span_touches_are_marked() -> None:
    words = [(0, 4), (5, 9), (10, 12)]
    assert marked_words(words, [(3, 6)]).tolist() == [True, True, False]
    assert marked_words(words, [(4, 5), (12, 12), (6, 6)]).tolist() == [False, False, False]
    assert marked_words(words, []).tolist() == [False, False, False]
    assert marked_words([], [(0, 1)]).tolist() == []


def test_right_to_left_and_emoji_are_counted_by_characters() -> None:
    arabic = scored("هذا فيلم رائع", [0.0, 0.1, 0.9])
    emoji = scored("film 👍🏽 ok", [0.0, 0.9, 0.1])
    found = detection([arabic, emoji], [[(9, 13)], [(5, 7)]], [1]).found
    assert found.f.values.tolist() == [[1], [1]]


def test_gold_of_the_texts_own_polarity() -> None:
    assert of_polarity([(0, 3, 1), (4, 6, 0), (8, 9, 1)], 1) == [(0, 3), (8, 9)]


def test_spans_outside_of_the_text_are_refused() -> None:
    one = scored("a b", [1.0, 2.0])
    for span in ((0, 4), (-1, 2), (2, 1)):
        with pytest.raises(InputError, match=r"evidence, text 2: .* of 3 characters"):
            detection([one, one], [[], [span]])
    with pytest.raises(InputError, match="evidence: of 1 texts, but 2"):
        detection([one, one], [[]])


@pytest.mark.parametrize("spans", [[3], ["ab"], [None], [(1,)], [(0, 1, 2)], [(0.0, 1.0)], None, 3, "ab", {0: 1}])
def test_what_is_no_list_of_spans_is_refused(spans: Any) -> None:
    one = scored("a b", [1.0, 2.0])
    with pytest.raises(InputError, match=r"^evidence, text 2: .*\[start, end\)"):
        detection([one, one], [[], spans])


@given(st.lists(st.booleans(), min_size=1, max_size=6).filter(any), st.integers(1, 7))
def test_chance_is_the_mean_over_all_choices(gold: list[bool], k: int) -> None:
    text = " ".join("w" * len(gold))
    spans = [(2 * place, 2 * place + 1) for place, own in enumerate(gold) if own]
    choices = list(combinations(range(len(gold)), min(k, len(gold))))
    every = [scored(text, [float(place in chosen) for place in range(len(gold))]) for chosen in choices]
    found = detection(every, [spans] * len(every), [k])
    for curve, chance in zip(found.found, found.random, strict=True):
        assert curve.mean() == pytest.approx(chance.mean())
