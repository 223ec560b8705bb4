"""Words for and against an answer: shading, lists, marks, cautions, in every output format."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pytest
from rich.console import Console

from regard.records import Example, Explanation, Prediction, ReadAs, RepeatedWord, SentenceScore, TokenScore
from regard.report.colours import COLD, DARK, LEVELS, LIGHT, Ground, contrast, shade
from regard.report.pages.explanations import fragment, page, page_of_models
from regard.report.text.highlights import rows
from regard.report.text.strongest_words import MARKS, function_words, strongest_words
from regard.report.text.terminal import show, show_beside, show_legend
from regard.report.text.writing import write_explanations
from regard.report.word_heatmap import svg


def signed(words: dict[str, float], reading: tuple[ReadAs, ...] = (), **fields: Any) -> Explanation:
    """One token per word, separated by spaces, with these contributions."""
    tokens, at = [], 0
    for index, (word, contribution) in enumerate(words.items()):
        read_as = reading[index] if reading else "word"
        known = read_as == "word"
        tokens.append(TokenScore(word, at, at + len(word), 1 / len(words), known, contribution, read_as))
        at += len(word) + 1
    prediction = Prediction("pos", {"pos": 0.75, "neg": 0.25})
    values = {"contribution_method": "leave_one_out", "target": "pos", **fields}
    return Explanation(" ".join(words), prediction, tuple(tokens), **values)


@pytest.fixture
def mixed() -> Explanation:
    return signed({"superb": 4.0, "plain": 0.25, "dull": -1.0})


def console(colour: str | None = None, width: int = 200) -> Console:
    system: Any = colour or "auto"
    return Console(
        file=io.StringIO(), width=width, force_terminal=colour is not None, color_system=system, legacy_windows=False
    )


def printed(explanation: Explanation, colour: str | None = None) -> str:
    screen = console(colour)
    show(explanation, screen, light=False)
    assert isinstance(screen.file, io.StringIO)
    return screen.file.getvalue()


def test_strength_is_the_root_of_the_size_and_the_sign_chooses_the_ramp(mixed: Explanation) -> None:
    pieces = [piece for piece in rows(mixed)[0].pieces if piece.token]
    assert [piece.strength for piece in pieces] == pytest.approx([1.0, 0.25, 0.5])
    assert [piece.ramp for piece in pieces] == ["w", "w", "a"]


def test_a_text_without_strong_words_stays_pale() -> None:
    pale = signed({"some": 0.04, "words": -0.01})
    assert [piece.strength for piece in rows(pale)[0].pieces if piece.token] == pytest.approx([0.2, 0.1])
    stars = replace(pale, strong=0.04)  # a regression whose labels differ little
    assert [piece.strength for piece in rows(stars)[0].pieces if piece.token] == pytest.approx([1.0, 0.5])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_contributions_that_are_not_finite_are_not_shaded(value: float) -> None:
    assert rows(signed({"odd": value, "good": 1.0}))[0].pieces[0].strength == 0.0


@pytest.mark.parametrize("ground", [LIGHT, DARK, Ground((255, 255, 255), (0, 0, 0), (0, 0, 0))])
def test_ink_is_readable_on_the_ramp_of_words_against(ground: Ground) -> None:
    steps = [shade(level / LEVELS, ground.paper, COLD) for level in range(LEVELS + 1)]
    assert min(contrast(ground.ink, step) for step in steps) >= 4.5


def test_repeated_words_are_one_entry_with_their_joint_contribution() -> None:
    text = signed({"good": 0.3, "Good": 0.4, "fine": 0.5}, repeated=(RepeatedWord("good", (0, 1), 1.2),))
    words, against = strongest_words(text)
    assert [(word.name, word.number) for word in words] == [("good ×2", "+1.20 together"), ("fine", "+0.50")]
    assert against == []
    assert "top words for pos: good ×2 +1.20 together, fine +0.50" in printed(text)
    assert "[good+] [Good+] [fine+]" in printed(text)


def test_function_words_and_punctuation_come_after_words_that_contribute_about_as_much() -> None:
    words, _ = strongest_words(signed({"the": 1.0, "!": 0.98, "great": 0.9, "fine": 0.85}))
    assert [word.text for word in words] == ["great", "the", "!", "fine"]
    words, _ = strongest_words(signed({"the": 1.0, "great": 0.89}))
    assert [word.text for word in words] == ["the", "great"]
    assert not {"not", "no", "never", "nor"} & function_words()


def test_an_emoticon_is_not_punctuation() -> None:
    words, _ = strongest_words(signed({"!!!": 1.0, ":)": 0.95}))
    assert [word.name for word in words] == [":)", "“!!!”"]


def test_words_that_are_not_read_as_words_are_marked() -> None:
    text = signed({"qqq": 0.8, "unwatchabley": -0.9, "zzz": 0.5}, ("nothing", "beginning", "unknown"))
    out = printed(text)
    assert "qqq (only separates its neighbours) +0.80" in out
    assert "unwatchabley (known by its beginning) −0.90" in out
    assert "zzz (unknown) +0.50" in out
    assert "known only by its beginning" in page([text], "")
    assert set(MARKS) == set(get_args(ReadAs))


def test_without_colour_signs_are_in_brackets(mixed: Explanation) -> None:
    out = printed(mixed)
    assert "[superb+] [plain+] [dull−]" in out
    assert "top words for pos: superb +4.00, plain +0.25; against: dull −1.00" in out


def test_with_colour_words_against_are_blue_and_underlined(mixed: Explanation) -> None:
    out = printed(mixed, "truecolor")
    assert re.search(r"\x1b\[38;2;[\d;]+48;2;137;58;12msuperb", out)  # 0.6 of the orange
    assert re.search(r"\x1b\[4;38;2;[\d;]+48;2;16;52;74mdull", out)  # 0.3 of the blue
    assert re.search(r"\x1b\[4;34mdull", printed(mixed, "standard"))


def test_an_ascii_terminal_gets_ascii_signs(mixed: Explanation) -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding="ascii")
    show(replace(mixed, sentences=(SentenceScore(0, 17, 1.0, -2.0),)), Console(file=file, width=100))
    file.flush()
    assert b"[dull-]" in raw.getvalue()
    assert b"-2.00" in raw.getvalue()


def test_the_target_is_named_if_it_is_not_the_predicted_class(mixed: Explanation) -> None:
    other = replace(mixed, target="neg")
    assert printed(other).startswith("pos 0.750, explained for neg\n")
    for html in (page([other], ""), fragment(other)):
        assert "explained for <bdi>neg</bdi>" in html
    assert "explained for" not in printed(mixed)


def test_a_number_is_raised_and_lowered() -> None:
    stars = replace(signed({"superb": 0.5, "dull": -0.4}, target=None, strong=0.6), prediction=Prediction(3.5, {}))
    assert "words that raise the number: superb +0.50; words that lower it: dull −0.40" in printed(stars)
    assert Explanation.from_dict(stars.as_dict()) == stars


def test_a_sentence_has_a_bar_by_its_contribution(mixed: Explanation) -> None:
    text = replace(mixed, sentences=(SentenceScore(0, 12, 0.9, 0.5), SentenceScore(13, 17, 0.1, -2.0)))
    assert [(row.share, row.against, row.number) for row in rows(text)] == [
        (0.25, False, "+0.50"),
        (1.0, True, "−2.00"),
    ]
    assert '<span class="bar cold"' in page([text], "")
    assert "−2.00" in fragment(text)
    assert 'fill="#0072b2"' in svg(text)


def test_the_page_has_both_ramps_tooltips_and_text_for_screen_readers(mixed: Explanation) -> None:
    html = page([mixed], "")
    assert '<span class="w20" title="for +4.00, weight 0.333">superb</span>' in html
    assert '<span class="a10" title="against −1.00, weight 0.333">dull</span>' in html
    assert '<span class="visually-hidden"> (against 1.00)</span>' in html
    assert html.count('visually-hidden"> (') == 2  # not for weak words, which would make a text hard to listen to
    assert "Top words for pos" in html
    assert "background:rgba(0,114,178,0.3);text-decoration:underline" in fragment(mixed)


def test_the_figure_underlines_words_against_and_has_a_legend(mixed: Explanation) -> None:
    drawing = ElementTree.fromstring(svg(mixed))
    (line,) = drawing.iter("{http://www.w3.org/2000/svg}line")
    assert line.get("stroke") == "#0072b2"
    assert "orange: for pos; blue, underlined: against it" in "".join(drawing.itertext())


def test_a_text_of_unknown_words_has_a_note_everywhere() -> None:
    text = signed({"xyzzy": 0.0, "plugh": 0.0}, ("nothing", "unknown"))
    note = "no word of this text is known to the model; this is its default answer"
    assert text.as_dict()["note"] == note
    assert f"\n{note}\n" in printed(text)
    for html in (page([text], ""), fragment(text)):
        assert "N" + note[1:] + "." in html


def test_few_known_words_are_counted() -> None:
    unknown: tuple[ReadAs, ...] = ("nothing",) * 3
    words = {"good": 1.0, "xa": 0.0, "xb": 0.0, "xc": 0.0, ".": 0.1}
    assert signed(words, ("word", *unknown, "word")).note == "only 1 of 4 words are known to the model"
    assert signed(words, ("beginning", *unknown, "word")).note == "only 1 of 4 words are known to the model"
    assert signed(words, ("nothing", *unknown, "word")).note.endswith("known to the model, only its punctuation")
    assert signed(words, ("word", "word", "unknown", "unknown", "word")).note == ""
    assert "note" not in signed(words).as_dict()


def test_texts_in_which_no_word_contributes_much_have_a_sentence() -> None:
    weak = signed({"some": 0.04, "words": -0.01})
    assert "no word contributes 0.05 or more" in printed(weak)
    assert "No word contributes 0.05 or more." in page([weak], "")
    assert "No word contributes 0.05 or more." in fragment(weak)


def test_weights_without_contributions_are_drawn_as_before(flat: Explanation) -> None:
    assert "top words: slow 0.762" in printed(flat)
    html = page([flat], "")
    assert "weight 0" in html
    assert "against" not in html.split("</style>")[1]
    assert "<line" not in svg(flat)


def test_the_legend_is_printed_once_and_only_for_signs(mixed: Explanation, flat: Explanation) -> None:
    for explanation, lines in ((mixed, 1), (flat, 0)):
        screen = console()
        show_legend(explanation, screen)
        assert isinstance(screen.file, io.StringIO)
        assert screen.file.getvalue().count("\n") == lines


@pytest.mark.parametrize(("width", "same_line"), [(120, True), (60, False)])
def test_two_models_are_columns_or_stacked_if_the_terminal_is_narrow(
    mixed: Explanation, width: int, same_line: bool
) -> None:
    screen = console(width=width)
    show_beside([("runs/a", mixed), ("runs/b", mixed)], screen)
    assert isinstance(screen.file, io.StringIO)
    (line,) = [line for line in screen.file.getvalue().splitlines() if "runs/a" in line]
    assert ("runs/b" in line) == same_line


def test_two_models_in_files(mixed: Explanation, tmp_path: Path) -> None:
    html = page_of_models([[mixed, replace(mixed, label="neg")]], "", ["runs/a", "runs/b"])
    assert html.count('<div class="view">') == 2
    assert "<bdi>runs/b</bdi>: 0 of 1 correct" in html
    for name in ("both.csv", "both.jsonl"):
        write_explanations([(Example("x"), (mixed, mixed))], None, tmp_path / name, "", ["runs/a", "runs/b"])
        assert "runs/b" in (tmp_path / name).read_text(encoding="utf-8")
    write_explanations([(Example("x"), (mixed,))], None, tmp_path / "one.csv", "", ["runs/a"])
    lines = (tmp_path / "one.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "row,prediction,word,start,end,weight,known,contribution,target,read_as"
    assert lines[-1].endswith(",True,-1.0,pos,word")
