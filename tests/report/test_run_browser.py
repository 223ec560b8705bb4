"""The page of a run in a real browser: filters, search, keyboard, dark and narrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from run_case import CHINESE, HOSTILE, report, run_page, shown

from browser import NAMES, Browser, chromium

pytestmark = pytest.mark.skipif(chromium() is None, reason=f"no browser: {', '.join(NAMES)} are looked for")


def open_page(browser: Browser, folder: Path, facts: dict[str, Any]) -> None:
    path = folder / "report.html"
    path.write_text(run_page(facts), encoding="utf-8", errors="replace")
    browser.events.clear()
    browser.open(path)


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    browser.media()
    open_page(browser, tmp_path, report())
    yield browser
    assert browser.console_messages() == []
    assert [url.rpartition("/")[2] for url in browser.requests()] == ["report.html"]


def choose(browser: Browser, identity: str, value: str) -> None:
    event = "new Event(chosen.tagName === 'SELECT' ? 'change' : 'input')"
    browser.evaluate(
        f"(() => {{ const chosen = document.getElementById({identity!r}); chosen.value = {value!r};"
        f" chosen.dispatchEvent({event}); }})()"
    )


def seen(browser: Browser) -> list[str]:
    """The ids of the texts that are shown."""
    return list(
        browser.evaluate("[...document.querySelectorAll('article')].filter(a => a.offsetHeight).map(a => a.id)")
    )


def key(browser: Browser, name: str, code: int) -> None:
    for kind in ("rawKeyDown", "keyUp"):
        browser.send("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)
    browser.frame()


def focused(browser: Browser) -> str:
    return str(browser.evaluate("document.activeElement.id"))


def test_texts_are_filtered_by_mistake_class_and_words(page: Browser) -> None:
    assert len(seen(page)) == 5
    choose(page, "correctness", "no")
    assert seen(page) == ["text-1", "text-3"]
    choose(page, "text-search", "DULL")
    assert seen(page) == ["text-1"]
    assert page.evaluate("document.getElementById('count').textContent") == "1 of 5 shown"
    choose(page, "actual-class", "1")
    assert seen(page) == []
    assert page.evaluate("document.getElementById('count').textContent") == "no matching texts"
    for identity in ("correctness", "actual-class"):
        choose(page, identity, "")
    choose(page, "text-search", CHINESE[:4])
    assert seen(page) == ["text-4"]


def test_one_explainer_or_all_of_them(page: Browser) -> None:
    count = "[...document.querySelectorAll('#text-1 .view')].filter(v => v.offsetHeight).length"
    assert page.evaluate(count) == 2
    sides = page.evaluate("[...document.querySelectorAll('#text-1 .view')].map(v => v.getBoundingClientRect().top)")
    assert sides[0] == sides[1]
    choose(page, "method", "gradient_times_input")
    assert page.evaluate(count) == 1
    assert page.evaluate("document.querySelector('#text-5 .view').offsetHeight > 0")  # it has attention alone


def test_the_keyboard_reaches_filters_and_texts(page: Browser) -> None:
    page.evaluate("document.getElementById('text-search').focus()")
    page.press("Tab")
    assert focused(page) == "text-1"
    key(page, "PageDown", 34)
    assert focused(page) == "text-2"
    key(page, "PageUp", 33)
    key(page, "PageUp", 33)
    assert focused(page) == "text-1"
    choose(page, "correctness", "yes")
    page.evaluate("document.getElementById('text-search').focus()")
    page.press("Tab")
    assert focused(page) == "text-2"  # the first that is shown


def test_dark_paper_has_light_ink(page: Browser) -> None:
    page.media(prefers_color_scheme="dark")
    look = "getComputedStyle(document.querySelector({!r})).{}"
    assert page.evaluate(look.format("body", "backgroundColor")) == "rgb(15, 16, 20)"
    assert page.evaluate(look.format(".plot text", "fill")) == "rgb(232, 234, 238)"
    assert page.evaluate(look.format(".plot svg > rect", "fill")) == "none"


def test_a_narrow_window_needs_no_scrolling_sideways(page: Browser) -> None:
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    page.send("Emulation.setDeviceMetricsOverride", **size)
    page.frame()
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.send("Emulation.clearDeviceMetricsOverride")
    assert wide == 400


def test_the_scatter_can_be_searched(page: Browser) -> None:
    token = page.evaluate("data.token[0]")
    choose(page, "search", token)
    page.until("document.getElementById('search-results').children.length > 0")


def test_a_hostile_text_is_only_shown(browser: Browser, tmp_path: Path) -> None:
    open_page(
        browser, tmp_path, report(texts=[shown(HOSTILE + "</script><img src=x onerror=alert(1)>")], analysis=None)
    )
    assert browser.evaluate("document.images.length") == 0
    assert "<script>alert" in browser.evaluate("document.querySelector('.text').textContent")
    assert browser.console_messages() == []
