"""Pages of many classes and many texts in a real browser: paging, picking, sorting, unfolding, heights, narrow windows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from run_case import audit, report, run_page
from test_many_page import many_classes, many_texts
from test_run_browser import choose, focused, key

from browser import NAMES, Browser, chromium
from regard.facts.audit import AuditFacts
from regard.report.pages.audit import audit_page

pytestmark = pytest.mark.skipif(chromium() is None, reason=f"no browser: {', '.join(NAMES)} are looked for")
DRAWN = "[...document.querySelectorAll('#feed article')].map(a => a.id)"
COUNT = "document.getElementById('count').textContent"
TALLEST = 15_000  # pixels


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Browser]:
    path = tmp_path / "report.html"
    path.write_text(run_page(report(texts=many_texts(120), analysis=many_classes())), encoding="utf-8")
    browser.send("Emulation.clearDeviceMetricsOverride")
    browser.media()
    browser.events.clear()
    browser.open(path)
    yield browser
    assert browser.console_messages() == []


def to_end(page: Browser) -> None:
    """Scroll until the whole page of texts is drawn."""
    for _ in range(15):
        page.evaluate("document.getElementById('feed-end').scrollIntoView()")
        page.frame()


def test_texts_are_drawn_as_far_as_one_scrolls_and_fifty_to_a_page(page: Browser) -> None:
    assert len(page.evaluate(DRAWN)) == 5
    to_end(page)
    assert page.evaluate(DRAWN) == [f"text-{number}" for number in range(1, 51)]
    assert page.evaluate(COUNT) == "1–50 of 120 shown"


def test_the_next_page_begins_with_the_next_text(page: Browser) -> None:
    page.evaluate("document.querySelector('.pager .next').click()")
    assert page.evaluate(DRAWN)[0] == "text-51"
    assert focused(page) == "text-51"
    page.evaluate("document.querySelector('.pager .next').click()")
    to_end(page)
    assert len(page.evaluate(DRAWN)) == 20
    assert page.evaluate("[...document.querySelectorAll('.pager .next')].every(b => b.disabled)")
    assert page.evaluate(COUNT) == "101–120 of 120 shown"


def test_filters_and_search_cover_the_texts_that_are_not_drawn(page: Browser) -> None:
    choose(page, "text-search", "number117")
    assert page.evaluate(DRAWN) == ["text-118"]
    assert page.evaluate(COUNT) == "1 of 120 shown"
    assert page.evaluate("[...document.querySelectorAll('.pager')].every(p => p.hidden)")
    choose(page, "text-search", "")
    choose(page, "correctness", "no")
    assert page.evaluate(COUNT) == "1–50 of 60 shown"
    assert page.evaluate("document.querySelector('#feed article').ariaSetSize") == "60"


def test_page_down_goes_on_to_texts_that_are_not_drawn(page: Browser) -> None:
    page.evaluate("document.querySelectorAll('#feed article')[4].focus()")
    key(page, "PageDown", 34)
    assert focused(page) == "text-6"
    page.evaluate("document.querySelector('.pager .next').click()")
    key(page, "PageUp", 33)
    assert focused(page) == "text-50"


def test_a_link_leads_to_a_text_of_another_page(page: Browser) -> None:
    page.evaluate("location.hash = '#text-77'")
    page.until("!!document.querySelector('#feed #text-77')")
    page.frame()
    assert 0 <= page.evaluate("document.getElementById('text-77').getBoundingClientRect().top") < 300


def test_classes_are_found_and_picked(page: Browser) -> None:
    page.evaluate("document.querySelector('.picker').open = true")
    page.evaluate("document.querySelector('.picker input.find').focus()")
    page.write("CLASS 07")
    listed = "[...document.querySelectorAll('#kind-list li')].filter(e => !e.hidden).map(e => e.innerText.trim())"
    assert page.evaluate(listed) == ["class 07"]
    page.evaluate("document.querySelector('#kind-list li:not([hidden]) input').click()")
    page.frame()
    kinds = "[...new Set(scatter.order.filter(k => isShown(scatter, k)).map(k => data.kinds[data.kind[k]].name))]"
    assert page.evaluate(kinds) == ["class 07"]
    assert page.evaluate("document.querySelector('.picker summary').innerText") == "Classes: 1 of 82 shown"
    page.evaluate("document.querySelector('#chosen button').click()")
    assert page.evaluate("scatter.hidden.size") == 0


def test_a_word_of_a_class_that_is_not_picked_is_shown_when_searched(page: Browser) -> None:
    page.evaluate("document.querySelector('#kind-list input[data-kind=\"3\"]').click()")
    token = page.evaluate("data.token[data.kind.indexOf(5)]")
    choose(page, "search", token)
    page.evaluate("document.getElementById('search').focus()")
    page.press("Enter")
    assert page.evaluate("document.querySelector('#kind-list input[data-kind=\"5\"]').checked")
    assert not page.evaluate("scatter.hidden.has(5)")


def test_a_table_is_sorted_by_its_columns(page: Browser) -> None:
    page.evaluate("for (const part of document.querySelectorAll('details.fold')) part.open = true")
    table = "[...document.querySelectorAll('table.sortable')].find(t => t.caption.innerText.startsWith('Types'))"
    column = f"[...{table}.tBodies[0].rows].map(row => row.cells[2].innerText)"
    button = f"{table}.tHead.rows[0].cells[2]"
    page.evaluate(f"{button}.querySelector('button').click()")
    largest = [float(cell.replace("−", "-")) for cell in page.evaluate(column)]
    assert largest == sorted(largest, reverse=True)
    assert page.evaluate(f"{button}.ariaSort") == "descending"
    page.evaluate(f"{button}.querySelector('button').click()")
    assert page.evaluate(f"{button}.ariaSort") == "ascending"
    assert [float(cell.replace("−", "-")) for cell in page.evaluate(column)] == sorted(largest)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_is_no_higher_than_it_should_be_and_shows_where_it_scrolls(page: Browser, width: int) -> None:
    page.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    page.frame()
    assert page.evaluate("document.documentElement.scrollHeight") <= TALLEST
    assert page.evaluate("document.documentElement.scrollWidth") == width
    without = page.evaluate(
        """[...document.querySelectorAll('main *, nav')].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 &&
        ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && getComputedStyle(e).backgroundImage === 'none').length"""
    )
    page.send("Emulation.clearDeviceMetricsOverride")
    assert without == 0


def test_cards_of_a_row_fill_its_width(page: Browser) -> None:
    rows = page.evaluate(
        """[...document.querySelectorAll('.grid, .summary')].filter(g => g.checkVisibility()).map(g => {
          const edge = g.getBoundingClientRect();
          return [...g.children].every(c => c.getBoundingClientRect().width > 0) &&
            Math.max(...[...g.children].map(c => c.getBoundingClientRect().right)) - edge.right; })"""
    )
    assert rows
    assert all(abs(gap) < 1 for gap in rows)


def test_the_menu_stays_in_view(page: Browser) -> None:
    page.evaluate("document.getElementById('texts').scrollIntoView()")
    page.frame()
    assert page.evaluate("document.querySelector('.menu').getBoundingClientRect().top") == 0
    assert page.evaluate("document.getElementById('texts').getBoundingClientRect().top") >= 40


def test_printing_unfolds_the_evidence_and_draws_the_page_of_texts(page: Browser) -> None:
    folded = "document.querySelectorAll('main details.fold:not([open])').length"
    before = page.evaluate(folded)
    assert before > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(folded) == 0
    assert len(page.evaluate(DRAWN)) == 50
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(folded) == before


def test_many_explainers_are_shown_one_at_a_time(browser: Browser, tmp_path: Path) -> None:
    facts = audit()
    for text in facts["details"]:
        text["scores"]["leave_one_out"] = text["scores"]["attention"]
    path = tmp_path / "audit.html"
    path.write_text(audit_page(AuditFacts.from_json(facts)), encoding="utf-8")
    browser.media()
    browser.open(path)
    views = "[...document.querySelectorAll('#text-1 .view')].filter(v => v.offsetHeight).length"
    assert browser.evaluate(views) == 1
    choose(browser, "method", "")
    assert browser.evaluate(views) == 3
