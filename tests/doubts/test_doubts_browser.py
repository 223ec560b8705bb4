"""The page of doubtful labels in a real browser: keys, the saved file, hostile texts, narrow and dark."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from doubtful import HOSTILE, table_rows

from browser import NAMES, Browser, chromium
from regard.facts.doubts import Contradiction, DoubtFacts, DoubtfulRow, NextText, NovelText
from regard.report.pages.doubts import Table, doubts_page
from regard.report.text.formulas import is_formula

pytestmark = pytest.mark.skipif(chromium() is None, reason=f"no browser: {', '.join(NAMES)} are looked for")

COLUMNS = ("id", "text", "label")
CLASSES = ("no", "yes", '<b title="x">may&be</b>,\r\nor not')


def page_text(classes: tuple[str, ...] = CLASSES) -> str:
    rows = table_rows()
    doubtful = [
        DoubtfulRow(8, str(rows[7][1]), "no", "yes", 0.99, ("superb",)),
        DoubtfulRow(51, str(rows[50][1]), "yes", "no", 0.9),
        DoubtfulRow(122, HOSTILE, "yes", "no", 0.8, ("<i>zorp</i>", "long" * 60)),
    ]
    facts = DoubtFacts(
        data="calls.csv",
        task="multiclass",
        classes=classes,
        rows=doubtful,
        estimated=3.0,
        contradictions=[Contradiction((11, 121), ("no", "yes"), (HOSTILE, HOSTILE), 1.0)],
        novel=[NovelText(122, HOSTILE, "yes", 0.99)],
        next=[NextText(1, HOSTILE, 0.9, 0.9, "no")],
        pool="pool.csv",
    )
    rows[50] = (*rows[50][:2], " yes ")
    numbered = [(number, dict(zip(COLUMNS, row, strict=True))) for number, row in enumerate(rows, 1)]
    return doubts_page(facts, Table(COLUMNS, numbered, "label", "calls.csv"), limit=10)


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    browser.media()
    path = tmp_path / "doubts.html"
    path.write_text(page_text(), encoding="utf-8")
    browser.events.clear()
    browser.open(path)
    yield browser
    assert browser.console_messages() == []
    assert [url.rpartition("/")[2] for url in browser.requests() if not url.startswith("blob:")] == ["doubts.html"]
    browser.evaluate("document.getElementById('save').click()")  # otherwise the browser asks before it leaves the page


def key(browser: Browser, name: str) -> None:
    for kind in ("keyDown", "keyUp"):
        browser.send("Input.dispatchKeyEvent", type=kind, key=name, text=name if kind == "keyDown" else "")
    browser.frame()


def decisions(browser: Browser) -> list[str]:
    return list(browser.evaluate("[...document.querySelectorAll('.decision')].map(one => one.textContent)"))


def saved(browser: Browser, folder: Path) -> list[list[str]]:
    browser.send("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    key(browser, "d")
    path, end = folder / "calls-corrected.csv", time.monotonic() + 20
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.05)
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_labels_are_corrected_by_keyboard_and_saved(page: Browser, tmp_path: Path) -> None:
    for name in "al3":
        key(page, name)
    assert decisions(page) == ["becomes yes", "stays yes", f"becomes {CLASSES[2]}"]
    assert page.evaluate("document.getElementById('status').textContent").startswith("3 of 3 decided, 2 changed; not")
    expected = [[*COLUMNS], *([str(cell) for cell in row] for row in table_rows())]
    expected[8][2], expected[122][2] = "yes", CLASSES[2]
    expected[51][2] = " yes "  # it stays as the file has it
    assert saved(page, tmp_path) == expected
    assert page.evaluate("document.getElementById('status').textContent") == "3 of 3 decided, 2 changed"


def test_formulas_are_escaped_on_request(page: Browser, tmp_path: Path) -> None:
    raw = [[str(cell) for cell in row] for row in table_rows()]
    assert any(is_formula(cell) for row in raw for cell in row)
    assert "like a formula" in page.evaluate("document.querySelector('#save + label').textContent")
    page.evaluate("document.querySelector('#save + label input').click()")
    page.evaluate("document.activeElement.blur()")
    expected = [[f"'{cell}" if is_formula(cell) else cell for cell in row] for row in raw]
    expected[50][2] = " yes "  # as the file has it
    assert saved(page, tmp_path)[1:] == expected


def test_a_decision_is_undone_and_texts_are_walked_through(page: Browser) -> None:
    for name in "jak":
        key(page, name)
    assert decisions(page) == ["", "becomes no", ""]
    assert page.evaluate("document.activeElement.id") == "row-51"
    key(page, "u")
    assert decisions(page) == ["", "", ""]
    key(page, "k")
    key(page, "k")
    assert page.evaluate("document.activeElement.id") == "row-8"


def test_another_label_is_chosen_from_the_list(page: Browser) -> None:
    key(page, "o")
    assert page.evaluate("document.activeElement.className") == "other"
    page.evaluate(
        "(() => { const list = document.activeElement; list.value = '2'; list.dispatchEvent(new Event('change')); })()"
    )
    assert decisions(page)[0] == f"becomes {CLASSES[2]}"
    key(page, "a")  # a letter in the list chooses an entry, not the suggestion
    assert decisions(page)[1] == ""
    page.press("Escape")
    assert page.evaluate("document.activeElement.id") == "row-8"


def test_buttons_work_with_the_mouse(page: Browser) -> None:
    page.click_on("#row-51 .accept")
    page.click_on("#row-8 .leave")
    assert decisions(page) == ["stays no", "becomes no", ""]
    assert page.evaluate("document.querySelector('#row-51 .accept').getAttribute('aria-pressed')") == "true"


def test_hostile_texts_are_shown_and_not_run(page: Browser) -> None:
    assert page.evaluate("document.title") == "Doubtful labels in calls.csv"
    assert page.evaluate("document.querySelectorAll('img, b[title], main i').length") == 0
    assert "</script><script>" in page.evaluate("document.querySelector('#row-122 .text').textContent")
    assert json.loads(page.evaluate("document.getElementById('page-data').textContent"))["rows"][121][1] == HOSTILE


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_narrow_window(page: Browser, scheme: str) -> None:
    page.media(prefers_color_scheme=scheme)
    page.send("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    page.frame()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate("document.getElementById('keys').offsetHeight") > 0
    ink, paper = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor"))
    assert ink != paper
    page.send("Emulation.clearDeviceMetricsOverride")


def test_a_page_without_doubts_says_so(browser: Browser, tmp_path: Path) -> None:
    facts = DoubtFacts("d.csv", "binary", ("a", "b"), [DoubtfulRow(1, "x", "a", "a", 0.1)], 0.0, [], [], [], "")
    path = tmp_path / "none.html"
    path.write_text(
        doubts_page(facts, Table(["t", "l"], [(1, {"t": "x", "l": "a"})], "l", "d.csv"), 5), encoding="utf-8"
    )
    browser.events.clear()
    browser.open(path)
    key(browser, "a")
    assert "No label is disputed." in browser.evaluate("document.body.textContent")
    assert browser.console_messages() == []
