"""Strength, colour and splitting of words, independent of the output format."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.records import Explanation, Prediction, SentenceScore, TokenScore
from regard.report.colours import DARK, LEVELS, LIGHT, RGB, Ground, contrast, luminance, shade
from regard.report.text.characters import cells, visible
from regard.report.text.highlights import concentration, rows, top_words, weight_text


def joined(explanation: Explanation) -> str:
    return "".join("".join(piece.text for piece in row.pieces) + row.tail for row in rows(explanation))


def test_strength_is_the_root_of_the_share_of_the_heaviest_word(flat: Explanation) -> None:
    strengths = [piece.strength for piece in rows(flat)[0].pieces if piece.token]
    assert strengths == pytest.approx([math.sqrt(1 / 16), 1.0, math.sqrt(4 / 16), 0.0])


@pytest.mark.parametrize("weight", [0.0, math.nan, -1.0, math.inf])
def test_words_without_a_usable_weight_are_not_shaded(flat: Explanation, weight: float) -> None:
    tokens = tuple(replace(token, weight=weight) for token in flat.tokens)
    shown = replace(flat, tokens=tokens)
    assert {piece.strength for piece in rows(shown)[0].pieces} == {0.0}
    assert top_words(shown) == []
    assert concentration(shown) == ""


def test_the_text_between_words_is_kept(flat: Explanation) -> None:
    assert [piece.text for piece in rows(flat)[0].pieces] == ["A", " ", "slow", ", ", "quiet", " ", "film", "."]


def test_sentences_become_rows_and_uncovered_text_a_row_without_weight(hierarchical: Explanation) -> None:
    highlighted = rows(hierarchical)
    assert [row.weight for row in highlighted] == [0.2, 0.8, None]
    assert [row.share for row in highlighted] == pytest.approx([0.25, 1.0, 0.0])
    assert [row.tail for row in highlighted] == ["  ", "\n\n", " \n"]
    assert joined(hierarchical) == hierarchical.text


def test_a_sentence_that_contains_others_is_replaced_by_them() -> None:
    sentences = (SentenceScore(0, 9, 1.0), SentenceScore(0, 4, 0.3), SentenceScore(5, 9, 0.7))
    shown = Explanation("One. Two.", Prediction("x", {}), (), sentences)
    assert [row.weight for row in rows(shown)] == [0.3, 0.7]


def test_parts_are_named_above_their_first_sentence(hierarchical: Explanation) -> None:
    shown = replace(hierarchical, parts=(SentenceScore(2, 13, 0.2), SentenceScore(15, 23, 0.8)))
    assert [row.part for row in rows(shown)] == ["part 1 of 2, weight 0.200", "part 2 of 2, weight 0.800", ""]


@st.composite
def any_explanation(draw: st.DrawFn) -> Explanation:
    """Spans may overlap, be empty, lie outside the text: whatever they are, no character may be lost."""
    text = draw(st.text(st.characters(exclude_categories=()), max_size=40))
    spans = st.tuples(st.integers(0, 45), st.integers(0, 45))
    weights = st.floats(0, 1)
    tokens = tuple(TokenScore("t", *draw(spans), draw(weights)) for _ in range(draw(st.integers(0, 6))))
    sentences = tuple(SentenceScore(*draw(spans), draw(weights)) for _ in range(draw(st.integers(0, 4))))
    return Explanation(text, Prediction("x", {}), tokens, sentences)


@given(any_explanation())
def test_rows_joined_are_the_whole_text(explanation: Explanation) -> None:
    assert joined(explanation) == visible(explanation.text)


@given(st.text(st.characters(exclude_categories=())))
def test_visible_text_keeps_its_length_and_can_be_encoded(text: str) -> None:
    assert len(visible(text)) == len(text)
    assert not any(ord(char) < 32 and char not in "\t\n\r" for char in visible(text))
    visible(text).encode()


@pytest.mark.parametrize("ground", [LIGHT, DARK, Ground((255, 255, 255), (0, 0, 0), (0, 0, 0))])
def test_ink_is_readable_on_every_step_of_the_ramp(ground: Ground) -> None:
    steps = [shade(level / LEVELS, ground.paper) for level in range(LEVELS + 1)]
    assert min(contrast(ground.ink, step) for step in steps) >= 4.5
    assert contrast(ground.faint, ground.paper) >= 4.5


@pytest.mark.parametrize(
    ("paper", "ink"), [((17, 17, 17), (224, 224, 224)), ((31, 31, 31), (204, 204, 204))], ids=["JupyterLab", "VS Code"]
)
def test_a_fragment_is_readable_in_dark_notebooks(paper: RGB, ink: RGB) -> None:
    assert min(contrast(ink, shade(level / LEVELS, paper)) for level in range(LEVELS + 1)) >= 4.5


@pytest.mark.parametrize(("ground", "way"), [(LIGHT, -1), (DARK, 1)])
def test_the_ramp_is_ordered_by_lightness_alone(ground: Ground, way: int) -> None:
    light = [way * luminance(shade(level / LEVELS, ground.paper)) for level in range(LEVELS + 1)]
    assert all(before < after for before, after in pairwise(light))


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)


def test_concentration_counts_the_words_that_hold_half_the_weight(flat: Explanation) -> None:
    assert concentration(flat) == "half of the weight is on 1 of 4 words"  # 16 of 21
    even = replace(flat, tokens=tuple(replace(token, weight=0.25) for token in flat.tokens))
    assert concentration(even) == "half of the weight is on 2 of 4 words"


def test_a_small_weight_is_not_written_as_zero() -> None:
    assert [weight_text(weight) for weight in (0.0, 0.0001, 0.0007, 0.25, math.nan)] == [
        "0.000",
        "<.001",
        "0.001",
        "0.250",
        "–",
    ]


def test_cells_of_wide_and_combining_characters() -> None:
    assert [cells(text) for text in ("ab", "好", "e\u0301", "")] == [2, 2, 1, 0]
