"""The SVG as an XML parser reads it, and the positions of its words."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import InputError
from regard.records import Explanation, Prediction, SentenceScore, TokenScore
from regard.report.text.highlights import Piece
from regard.report.word_heatmap import CELL, MARGIN, lines, svg

NAME = "{http://www.w3.org/2000/svg}"


def words(figure: str) -> list[ElementTree.Element]:
    """The words drawn, without the caption."""
    return [text for text in ElementTree.fromstring(figure).iter(f"{NAME}text") if text.get("text-anchor") == "middle"]


def set_in(text: str, width: int) -> list[str]:
    """The lines as they read from left to right."""
    return ["".join(placed.piece.text for placed in line) for line in lines([Piece(text)], width)]


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=80), st.integers(0, 80), st.booleans())
def test_any_text_gives_well_formed_xml(text: str, cut: int, nested: bool) -> None:
    tokens = (TokenScore(text[:cut], 0, cut, 0.9, known=False), TokenScore(text[cut:], cut, len(text), 0.1))
    sentences = (SentenceScore(0, cut, 0.7),) if nested else ()
    figure = svg(Explanation(text, Prediction(text, {text: 1.0}), tokens, sentences, label=text), 300)
    figure.encode()
    drawn = "".join(word.text or "" for word in words(figure))
    assert len(drawn) == len("".join(text.split())) or any(ord(char) < 32 or ord(char) == 0x85 for char in text)


def test_the_heaviest_word_lies_on_the_full_accent(flat: Explanation) -> None:
    boxes = {rect.get("fill"): rect for rect in ElementTree.fromstring(svg(flat)).iter(f"{NAME}rect")}
    box = boxes["#e69666"]
    assert float(box.get("x", "")) == pytest.approx(MARGIN + 2 * CELL, abs=0.05)  # "A " comes before it
    assert float(box.get("width", "")) == pytest.approx(4 * CELL, abs=0.05)


def test_the_answer_is_the_title(flat: Explanation, hierarchical: Explanation, price: Explanation) -> None:
    titles = [ElementTree.fromstring(svg(shown)).findtext(f"{NAME}title") for shown in (flat, hierarchical, price)]
    assert titles == ["positive 0.750 ✓", "positive 0.600 ✗ (actual: negative)", "3.5 (actual: 4, off by −0.5)"]


def test_sentences_have_bars_in_proportion(hierarchical: Explanation) -> None:
    bars = [
        rect for rect in ElementTree.fromstring(svg(hierarchical)).iter(f"{NAME}rect") if rect.get("fill") == "#d55000"
    ]
    assert [float(bar.get("width", "")) for bar in bars] == [12.0, 48.0]  # 0.2 and 0.8


def test_markup_stays_text(hostile: Explanation) -> None:
    figure = svg(hostile)
    assert "<script" not in figure
    assert "script" in [word.text for word in words(figure)]


def test_no_word_leaves_the_figure(flat: Explanation) -> None:
    text = "word " * 50 + "x" * 300 + " 好" * 100 + "好" * 100
    figure = svg(replace(flat, text=text, tokens=(TokenScore("x", 250, 550, 1.0),)), 400)
    for word in words(figure):
        half = float(word.get("textLength", "0")) / 2
        assert float(word.get("x", "")) - half >= MARGIN - 0.1
        assert float(word.get("x", "")) + half <= 400 - MARGIN + 0.1


def test_lines_break_at_spaces_and_keep_the_comma_with_its_word() -> None:
    assert set_in("one two, three", 8) == ["one two,", "three"]
    assert set_in("one two, three", 7) == ["one ", "two, ", "three"]
    assert set_in("a\n\nb", 9) == ["a", "", "b"]


def test_wide_characters_fill_two_cells_and_too_long_words_are_cut() -> None:
    assert set_in("好好好好好", 6) == ["好好好", "好好"]
    assert set_in("abcdefg", 3) == ["abc", "def", "g"]


def test_right_to_left_words_run_from_the_right_and_foreign_ones_keep_their_order() -> None:
    (line,) = lines([Piece("אבג one two דהו")], 20)
    assert [placed.piece.text for placed in line] == ["דהו", " ", "one", " ", "two", " ", "אבג"]
    assert line[-1].at + line[-1].width == 20
    assert set_in("see אבג דהו now", 20) == ["see דהו אבג now"]


def test_a_figure_too_narrow_is_refused_by_name(flat: Explanation) -> None:
    with pytest.raises(InputError, match=r"width: expected at least 240 pixels, got 50"):
        svg(flat, 50)


def test_empty_text(empty: Explanation) -> None:
    assert words(svg(empty)) == []
