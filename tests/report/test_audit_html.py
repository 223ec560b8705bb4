"""The page of an audit: every sentence links to its evidence, nothing is missing, text is escaped."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from analysis_case import without_interval
from run_case import ARABIC, CHINESE, HOSTILE, INTERVAL, audit, detail, erasure
from test_run_page import Tags

from regard.facts.audit import AuditFacts
from regard.report.pages import audit as pages
from regard.report.pages.audit_evidence import PARTS
from regard.report.pages.audit_figures import audit_figures
from regard.report.text.audit_tables import audit_tables
from regard.report.text.exported import Figure, Table

ALONE: dict[str, Any] = {  # scores of another tool, without labels
    "run": None,
    "data": None,
    "model": None,
    "explainers": [{"name": "attention"}, {"name": "random"}],
    "diagnostics": {},
    "separation": None,
    "plausibility": None,
    "agreement": [],
    "details": [],
}


def page_of(given: dict[str, Any]) -> str:
    return pages.audit_page(AuditFacts.from_json(given))


def figures_of(given: dict[str, Any]) -> dict[str, Figure]:
    return audit_figures(AuditFacts.from_json(given))


def tables_of(given: dict[str, Any]) -> dict[str, Table]:
    return audit_tables(AuditFacts.from_json(given))


def texts_of(given: dict[str, Any]) -> list[dict[str, Any]]:
    return pages.audit_texts(AuditFacts.from_json(given))


def test_figures_are_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    draw = pages.audit_figures
    monkeypatch.setattr(pages, "audit_figures", lambda facts: drawn.append(facts) or draw(facts))
    pages.write_audit(AuditFacts.from_json(audit()), tmp_path / "audit", tmp_path / "figures")
    assert len(drawn) == 1
    svg = (tmp_path / "figures" / "permutation.svg").read_text(encoding="utf-8")
    assert svg in (tmp_path / "audit" / "audit.html").read_text(encoding="utf-8")


def test_every_sentence_leads_to_its_evidence() -> None:
    page = page_of(audit())
    tags = Tags(page).found
    places = {attributes.get("id") for _, attributes in tags}
    links = [
        attributes["href"] for tag, attributes in tags if tag == "a" and attributes.get("class") == "evidence-link"
    ]
    assert [link for link in links if link != "#verdict"] == [
        f"#evidence-{name}" for name in ("faithfulness", "adversary", "model")
    ]
    assert {str(attributes["href"])[1:] for tag, attributes in tags if tag == "a"} <= places
    assert page.index("with reservations") < page.index("<svg")


def test_every_part_has_its_figures_and_tables() -> None:
    facts = audit()
    facts["faithfulness"] |= erasure()
    for curve in facts["faithfulness"]["curves"]:
        curve["normalised"] = INTERVAL
    page = page_of(facts)
    for name, part in PARTS.items():
        assert f'id="evidence-{name}"' in page
        assert set(part.figures) <= set(figures_of(facts))
        assert set(part.tables) <= set(tables_of(facts))
    shown = {name for part in PARTS.values() for name in part.figures}
    assert shown == set(figures_of(facts))
    assert "0.300 (0.200 to 0.400)" in page
    assert "0.02" in page  # Holm's p


def test_figures_have_their_numbers() -> None:
    figures = figures_of(audit())
    for figure in figures.values():
        assert figure.svg.startswith("<svg ")
        assert figure.rows
        assert {len(row) for row in figure.rows} == {len(figure.head)}
    assert figures["permutation"].rows == [(0.5, 0.1)]  # what has no number is left out
    assert figures["adversary"].rows == [[0.1], [0.6]]
    assert figures["trained_adversary"].rows[1] == [0.1, *(0.3, 0.2, 0.4) * 2]


def test_the_table_of_word_dropout_has_a_column_for_each_judge() -> None:
    facts = audit()
    judges = facts["diagnostics"]["word_dropout"]["judges"]
    judges[1] = {**judges[1], "measured": judges[1]["measured"][1:]}  # what a judge lacks is a dash in its column
    table = tables_of(facts)["word_dropout"]
    assert table.head == ("quantity", "audited model", "retrained model", "retrained with word dropout")
    assert {len(row) for row in table.rows} == {4}
    cell, cells = "0.300 (0.200 to 0.400)", {row[0]: row[1:] for row in table.rows}
    assert len(cells) == len(table.rows) == 15
    assert cells["comprehensiveness ↑, attention"] == (cell, "–", cell)
    assert cells["comprehensiveness ↑, attention minus random"] == (cell, "–", cell)
    assert cells["sufficiency ↓, random"] == (cell, cell, cell)
    assert cells["accuracy on texts with words dropped"] == ("–", cell, cell)
    assert "99 copies with words dropped" in table.caption
    assert "The verdict does not depend on it" in page_of(facts)
    drawn = [tuple(row[:2]) for row in figures_of(facts)["word_dropout"].rows]
    rows = [
        f"{name}, {judge}" for name in ("attention", "gradient") for judge in ("audited", "retrained", "word dropout")
    ]
    assert [name for panel, name in drawn if panel == "sufficiency, smaller is better"] == rows
    rows.remove("attention, retrained")
    assert [name for panel, name in drawn if panel == "comprehensiveness, larger is better"] == rows


def test_missing_facts_of_an_audit_give_no_part() -> None:
    facts = audit() | ALONE
    for check in ("limits", "emptiness", "signs"):
        del facts["faithfulness"][check]
    for curve in facts["faithfulness"]["curves"]:
        del curve["normalised"]
    page = page_of(facts)
    shown_parts = set(re.findall(r'id="evidence-(\w+)"', page))
    assert shown_parts == {"faithfulness", "checks"}
    assert 'id="feed"' not in page
    assert "Can attention be trusted?" in page


def test_values_without_an_interval_draw_nothing() -> None:
    nothing = {"n": 1, "mean": None, "low": None, "high": None, "p": None}
    facts = audit()
    for curve in facts["faithfulness"]["curves"]:
        curve |= {"values": [nothing, nothing], "mean": nothing, "normalised": nothing}
    facts["faithfulness"]["comparisons"] = [{**facts["faithfulness"]["comparisons"][0], **nothing, "holm": None}]
    even = {
        "learned_from": 1,
        "judged_on": 1,
        "epochs": 1,
        "attention": nothing,
        "even": nothing,
        "difference": nothing,
    }
    tau = {"gradient": {"tau": nothing, "deviation": None, "significant": nothing, "histogram": [0] * 20}}
    facts["diagnostics"] = {"even": even, "correlation": tau}
    assert set(figures_of(facts)) == {"separation", "plausibility"}
    assert "–" in page_of(facts)


def test_a_separation_without_intervals_is_listed_and_not_drawn() -> None:
    facts = without_interval(audit())
    assert "separation" not in figures_of(facts)
    assert tables_of(facts)["separation"].rows == [("any class", "0.700"), ("negative", "0.700")]


def test_mistakes_come_first() -> None:
    texts = [detail(0, "right", 1), detail(1, "unsure mistake", 0), detail(2, "sure mistake", 0)]
    texts[2]["probabilities"] = [0.1, 0.9]
    shown = texts_of(audit() | {"details": texts})
    assert [one.place for one in shown] == ["text 3", "text 2", "text 1"]
    assert [one.mistake for one in shown] == [True, True, False]
    views = shown[0].views
    assert [view.explanation.method for view in views] == ["attention", "gradient_times_input"]
    assert sum(token.weight for token in views[1].explanation.tokens) == pytest.approx(1)
    assert views[1].against == (5,)  # the last word


def test_long_texts_do_not_make_the_page_too_large() -> None:
    long = [detail(k, "word " * 5000, 0) for k in range(100)]
    assert len(texts_of(audit() | {"details": long})) == 4


def test_text_stays_text() -> None:
    bad = "</script><img src=x onerror=alert(1)>"
    facts = audit() | {"run": bad, "data": bad, "notes": [bad], "details": [detail(0, HOSTILE + bad, 0)]}
    facts["classes"] = [bad, "positive"]
    facts["verdict"]["title"] = bad
    facts["verdict"]["may"][0]["text"] = bad
    facts["explainers"] = [{"name": bad, "forward": 1.0, "backward": 0.0}]
    tags = Tags(page_of(facts)).found
    assert not [tag for tag, _ in tags if tag == "img"]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert sum(tag == "script" for tag, _ in tags) == 1


def test_nothing_is_loaded_from_the_network_and_other_scripts_keep_their_letters() -> None:
    page = page_of(audit())
    assert not re.search(r'(?:src|href)="(?!data:|#)', page)
    assert "default-src 'none'; script-src 'sha256-" in page
    for text in (ARABIC.split()[0], CHINESE.split("，")[0]):
        assert f">{text}</span>" in page


def test_notes_and_what_was_left_out_have_separate_headings() -> None:
    note = "7 texts are longer than the model reads"
    page = page_of(audit() | {"notes": [note]})
    left, noted = (page.index(f"<summary><h3>{head}</h3></summary>") for head in ("Left out of the audit", "Notes"))
    assert left < page.index("it trains models") < noted < page.index(note)
    alone = page_of(audit() | {"left_out": [], "notes": [note]})
    assert "Left out of the audit" not in alone
    assert note in alone
