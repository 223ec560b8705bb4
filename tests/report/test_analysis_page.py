"""The page of an analysis as a document: complete, escaped, offline. Its script is tested in test_analysis_browser.py."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from analysis_case import analysis, analysis_page, without_interval

from regard.report.pages.analysis import FRAMES, frames

VOID = {"meta", "link", "br", "img", "input", "hr"}
HOSTILE = "</script ><b>\u2028'\"&\ud800\x1b"


class Reader(HTMLParser):
    """The tags and the content of scripts; an unbalanced element fails."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] == ["script"]:
            self.scripts[-1] += data
        else:
            self.words += data

    @property
    def given(self) -> Any:
        return json.loads(self.scripts[0])


def hostile() -> dict[str, Any]:
    facts = analysis((HOSTILE, "good"), moments=3)
    for token in facts["tokens"][:3]:
        token["token"] += HOSTILE
    facts["recording"]["tokens"][0] += HOSTILE + "unlisted"
    separation = facts["separation"] | {"meaning": HOSTILE}
    return facts | {"run": HOSTILE, "data": HOSTILE, "notes": [HOSTILE], "separation": separation}


def test_nothing_that_a_user_wrote_becomes_markup() -> None:
    page = analysis_page(hostile())
    reader = Reader(page)
    assert "b" not in reader.tags
    assert len(reader.scripts) == 2
    assert "<" not in reader.scripts[0]
    assert reader.given["classes"][0].startswith("</script ><b>")
    page.encode()  # a lone surrogate would fail
    assert "\u2028" not in page
    assert "\x1b" not in page


def test_only_the_pages_script_may_run() -> None:
    page = analysis_page(analysis())
    reader = Reader(page)
    allowed = re.search(r"script-src 'sha256-([^']+)'", page)
    assert allowed is not None
    assert base64.b64decode(allowed[1]) == hashlib.sha256(reader.scripts[1].encode()).digest()
    assert not [name for name, _ in reader.attributes if name.startswith("on")]


def test_the_page_needs_nothing_else() -> None:
    page = analysis_page(analysis(moments=4))
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}
    values = [value for name, value in Reader(page).attributes if name in ("src", "href")]
    assert values[0] == "data:,"
    assert all(value.startswith("#") for value in values[1:])


def test_the_script_gets_every_token_once() -> None:
    facts = analysis(moments=3)
    facts["recording"]["tokens"][0] = "unlisted"
    given = Reader(analysis_page(facts)).given
    assert given["token"] == [*(token["token"] for token in facts["tokens"]), "unlisted"]
    assert given["polarity"][-1] is None  # not of the saved model
    assert given["recording"]["token"][0] == len(facts["tokens"])
    assert given["token"][given["recording"]["token"][1]] == facts["recording"]["tokens"][1]
    assert given["polarity"][0] == pytest.approx(facts["tokens"][0]["polarity"], rel=1e-4)


def test_axes_hold_every_moment() -> None:
    facts = analysis(moments=3)
    facts["recording"]["polarity"][1][0] = 99.0
    facts["recording"]["attention"][1][0] = -77.0
    given = Reader(analysis_page(facts)).given
    assert given["x"]["high"] > 99
    assert given["y"]["low"] < -77


def test_long_recordings_are_thinned_but_keep_their_ends() -> None:
    assert frames(5) == [0, 1, 2, 3, 4]
    kept = frames(1000)
    assert len(kept) == FRAMES
    assert (kept[0], kept[-1]) == (0, 999)


def test_the_player_is_there_only_with_a_recording() -> None:
    assert 'id="play"' in analysis_page(analysis(moments=2))
    still = analysis_page(analysis(("a", "b", "c")))
    assert 'id="play"' not in still
    assert "During training" not in still


def test_numbers_words_and_notes_are_in_the_page() -> None:
    facts = analysis()
    words = Reader(analysis_page(facts)).words
    assert "0.912" in words
    assert facts["separation"]["meaning"] in words
    assert facts["vtw"]["meaning"] in words
    assert all(note in words for note in facts["notes"])
    assert all(word["token"] in words for listed in facts["words"].values() for word in listed[:12])


def test_few_words_have_no_interval() -> None:
    words = Reader(analysis_page(without_interval(analysis()))).words
    assert "unknown too few words" in words
    assert "None" not in words


def test_missing_facts_are_left_out() -> None:
    facts = analysis(neutral=0, untyped=0) | {"separation": None, "vtw": None, "flow": None, "notes": []}
    facts["words"] = {"negative": [], "positive": []}
    facts["tokens"] = []
    reader = Reader(analysis_page(facts))
    assert "AUC" not in reader.words
    assert "no word of this class" in reader.words
    assert reader.given["token"] == []
