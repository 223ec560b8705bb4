"""The page of an audit in a real browser: from a sentence to its evidence and back, by mouse and keyboard, dark and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from run_case import audit, detail

from browser import NAMES, Browser, chromium
from regard.facts.audit import AuditFacts
from regard.report.pages.audit import audit_page

pytestmark = pytest.mark.skipif(chromium() is None, reason=f"no browser: {', '.join(NAMES)} are looked for")


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    browser.media()
    facts = audit()
    facts["details"].append(detail(3, "<script>alert(1)</script>", 0))
    path = tmp_path / "audit.html"
    path.write_text(audit_page(AuditFacts.from_json(facts)), encoding="utf-8", errors="replace")
    browser.events.clear()
    browser.open(path)
    yield browser
    assert browser.console_messages() == []
    assert {url.partition("#")[0].rpartition("/")[2] for url in browser.requests()} == {"audit.html"}


def top(page: Browser, selector: str) -> float:
    return float(page.evaluate(f"document.querySelector({selector!r}).getBoundingClientRect().top"))


def test_a_click_on_a_sentence_shows_its_evidence_and_another_leads_back(page: Browser) -> None:
    assert not page.evaluate("document.getElementById('evidence-adversary').open")
    page.click_on("#verdict a[href='#evidence-adversary']")
    page.until("document.getElementById('evidence-adversary').open")
    page.frame()
    assert 0 <= top(page, "#evidence-adversary") < 100
    page.click_on("#evidence-adversary a[href='#verdict']")
    assert 0 <= top(page, "#verdict") < 400


def test_the_keyboard_does_the_same(page: Browser) -> None:
    for anchor in ("verdict-heading", "evidence", "texts", "evidence-faithfulness"):  # the menu comes first
        page.press("Tab")
        assert page.evaluate("document.activeElement.getAttribute('href')") == f"#{anchor}"
    page.press("Enter")
    page.until("location.hash === '#evidence-faithfulness'")
    page.press("Tab")
    assert page.evaluate("document.activeElement.closest('details').id") == "evidence-faithfulness"


def test_texts_are_filtered_and_a_script_is_only_text(page: Browser) -> None:
    seen = "[...document.querySelectorAll('article')].filter(a => a.offsetHeight).length"
    assert page.evaluate(seen) == 4
    page.evaluate(
        "(() => { const w = document.getElementById('correctness'); w.value = 'no'; w.dispatchEvent(new Event('change')); })()"
    )
    assert page.evaluate(seen) == 2
    assert "<script>alert" in page.evaluate("document.getElementById('feed').textContent")


def test_dark_paper_has_light_ink_and_narrow_windows_do_not_scroll_sideways(page: Browser) -> None:
    page.media(prefers_color_scheme="dark")
    look = "getComputedStyle(document.querySelector({!r})).{}"
    assert page.evaluate(look.format("body", "backgroundColor")) == "rgb(15, 16, 20)"
    assert page.evaluate(look.format(".plot text", "fill")) == "rgb(232, 234, 238)"
    page.send("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    page.frame()
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.send("Emulation.clearDeviceMetricsOverride")
    assert wide == 400


def test_words_of_tables_do_not_break_in_narrow_windows(page: Browser) -> None:
    page.send("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    page.frame()
    # a word is broken where the rectangles of its letters are on two lines
    broken = """[...document.querySelectorAll('.scroll tbody th bdi')].flatMap(name => {
        const text = name.firstChild, words = [...text.data.matchAll(/\\S+/g)];
        return words.filter(word => {
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            return new Set([...range.getClientRects()].map(box => box.top)).size > 1;
        }).map(word => word[0]);
    })"""
    broken_words = page.evaluate(broken)
    page.send("Emulation.clearDeviceMetricsOverride")
    assert broken_words == []


def test_printed_tables_are_not_cut_off(page: Browser) -> None:
    page.send("Emulation.setEmulatedMedia", media="print")
    page.send("Emulation.setDeviceMetricsOverride", width=720, height=1000, deviceScaleFactor=1, mobile=False)
    page.frame()
    beyond = page.evaluate(
        "[...document.querySelectorAll('table')].filter(t => t.getBoundingClientRect().right > 720).length"
    )
    page.send("Emulation.clearDeviceMetricsOverride")
    page.send("Emulation.setEmulatedMedia", media="")
    assert beyond == 0
