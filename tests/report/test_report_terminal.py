"""Terminal output with and without colour."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from regard.records import Explanation, Prediction, SentenceScore
from regard.report.text.terminal import show

SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORFGBG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def shown(
    explanation: Explanation, colour: str | None = None, light: bool | None = None, encoding: str = "utf-8"
) -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, newline="")
    terminal = colour is not None
    system = colour or "auto"
    show(
        explanation,
        Console(file=file, width=200, force_terminal=terminal, color_system=system, legacy_windows=False),
        light,
    )  # type: ignore[arg-type]
    file.flush()
    return raw.getvalue().decode(encoding)


def test_without_colour_the_heaviest_words_are_in_brackets(flat: Explanation) -> None:
    out = shown(flat)
    assert "[A] [slow], [quiet] film." in out
    assert "top words: slow 0.762, quiet 0.190, A 0.048" in out
    assert "\x1b" not in out


def test_the_headline_shows_right_and_wrong(flat: Explanation, hierarchical: Explanation, price: Explanation) -> None:
    assert shown(flat).startswith("positive 0.750 ✓\n")
    assert shown(hierarchical).startswith("positive 0.600 ✗ actual: negative\n")
    assert shown(replace(flat, label=None)).startswith("positive 0.750\n")
    assert shown(price).startswith("3.5 actual: 4, off by −0.5\n")


def test_with_colour_the_heaviest_word_has_the_full_accent_and_the_text_is_unmarked(flat: Explanation) -> None:
    out = shown(flat, "truecolor")
    assert "48;2;137;58;12mslow" in out  # 0.6 of (213, 80, 0) over (23, 25, 30)
    assert "A slow, quiet film." in SGR.sub("", out)


def test_a_light_terminal_gets_the_light_ramp(flat: Explanation, monkeypatch: pytest.MonkeyPatch) -> None:
    light = shown(flat, "truecolor", light=True)
    assert "48;2;230;150;102mslow" in light  # 0.6 of (213, 80, 0) over white
    monkeypatch.setenv("COLORFGBG", "0;15")
    assert shown(flat, "truecolor") == light


def test_no_color_falls_back_to_brackets(flat: Explanation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "[slow]" in SGR.sub("", shown(flat, "truecolor"))


def test_sixteen_colours_still_show_the_heaviest_word(flat: Explanation) -> None:
    assert re.search(r"\x1b\[30;43mslow", shown(flat, "standard"))


@pytest.mark.parametrize("colour", [None, "standard", "truecolor"])
def test_user_text_cannot_control_the_terminal(hostile: Explanation, colour: str | None) -> None:
    hostile = replace(
        hostile, prediction=Prediction("\x1b[2J[red]a[/red]", {"\x1b[2J[red]a[/red]": 1.0}), label="\x07b"
    )
    out = SGR.sub("", shown(hostile, colour))
    assert not set(out) & {"\x1b", "\x00", "\x07", "\r"}
    assert "[red]a[/red]" in out
    text = out if colour else re.sub(r"\[(\w+)\](?=\W)", r"\1", out)
    assert "<script>" in text
    if colour:
        assert "[bold]now[/bold] ␛[31mred␛[0m␀" in text


def test_each_sentence_has_a_line_with_bar_and_weight(hierarchical: Explanation) -> None:
    lines = [line.rstrip() for line in shown(hierarchical).splitlines()]
    assert lines[1] == "██       0.200   [Good] [start]."
    assert lines[2] == "████████ 0.800 [Bad] [end]!"
    assert lines[3].strip() == "<br />cut here"


def test_an_ascii_terminal_gets_ascii_only(hierarchical: Explanation) -> None:
    out = shown(hierarchical, encoding="ascii")
    assert "wrong actual: negative" in out
    assert "######## 0.800" in out


def test_empty_text(empty: Explanation) -> None:
    assert shown(empty) == "positive\n"


def test_a_part_has_a_line_above_its_sentences(hierarchical: Explanation) -> None:
    lines = shown(replace(hierarchical, parts=(SentenceScore(0, 23, 1.0),))).splitlines()
    assert lines[1].strip() == "part 1 of 1, weight 1.000"
