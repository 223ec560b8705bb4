"""Pages of many classes and many texts: what is folded, paged, picked from a list and sortable, as markup."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from analysis_case import analysis, analysis_page
from run_case import audit, report, run_page, run_tables, shown

from regard.facts.audit import AuditFacts
from regard.facts.separation import ClassSeparation, Separation
from regard.records import Explanation, Prediction, TokenScore
from regard.report.pages.audit import audit_page
from regard.report.pages.explanations import page as explanations_page
from regard.report.pages.tiles import separation_tile
from regard.report.plots.marks import type_marks
from regard.report.text.numbers import column

EIGHTY = tuple(f"class {number:02}" for number in range(80))


def many_classes() -> dict[str, Any]:
    return analysis(EIGHTY, tied=3, neutral=12)


def many_texts(count: int) -> list[dict[str, Any]]:
    return [shown(f"A film number{number}", mistake=number % 2 == 0, views=1) for number in range(count)]


def inside(page: str, tag: str) -> str:
    return page.partition(f"<{tag}")[2].partition(f"</{tag}>")[0]


def test_fifty_texts_are_drawn_and_the_others_wait_in_a_template() -> None:
    page = run_page(report(texts=many_texts(120)))
    assert inside(page, "template").count("<article") == 70
    assert page.count("<article") == 120
    assert 'id="text-51"' in inside(page, "template")
    assert "Without JavaScript only the first 50 of 120 texts are shown." in page


def test_few_texts_need_no_template() -> None:
    page = run_page(report(texts=many_texts(50)))
    assert "<template" not in page
    assert "Without JavaScript only" not in page


def test_texts_that_wait_are_escaped_like_the_others() -> None:
    bad = "</template><img src=x onerror=alert(1)>"
    page = run_page(report(texts=[*many_texts(50), shown(bad, bad, True)]))
    assert "<img" not in page
    assert page.count("</template>") == 1


def test_a_few_explanations_need_no_script_and_many_are_paged() -> None:
    one = Explanation("nice", Prediction("good", {"good": 0.9, "bad": 0.1}), (TokenScore("nice", 0, 4, 1.0),))
    few, many = (explanations_page([replace(one, label="bad")] * count, "Texts") for count in (10, 60))
    assert "<script" not in few
    assert 'id="filters"' not in few
    assert inside(many, "template").count("<article") == 10
    assert 'data-correct="no" data-predicted="0" data-actual="1"' in many
    assert "Wrong: " in many
    assert "and 40 more" in re.sub(r"\s+", " ", many)


@pytest.mark.parametrize("page", [analysis_page(many_classes()), run_page(report(analysis=many_classes()))])
def test_many_classes_are_picked_from_a_list_with_a_search(page: str) -> None:
    assert 'class="kind"' not in page
    picker = page.partition('<details class="picker">')[2].partition("</details>")[0]
    assert picker.count('type="checkbox"') == 82  # the classes, neutral tokens and those without a type
    assert 'type="search" data-finds="kind-list"' in picker


def test_few_classes_have_a_button_each() -> None:
    page = analysis_page(analysis())
    assert page.count('class="kind"') == 4
    assert 'class="picker"' not in page


@pytest.mark.parametrize(("classes", "is_open"), [(EIGHTY, False), (("bad", "good"), True)])
def test_the_words_of_many_classes_are_folded(classes: tuple[str, ...], is_open: bool) -> None:
    page = analysis_page(analysis(classes, tied=3, neutral=12))
    words = page.partition('id="class-words">')[2].partition("</section>")[0]
    folds = re.findall(r'<details class="fold[^>]*>', words)
    assert len(folds) == len(classes)
    assert all(fold.endswith(" open>") == is_open for fold in folds)


def test_areas_are_in_a_sortable_table() -> None:
    page = analysis_page(many_classes())
    table = page.partition("Types of tokens and their mean scores</caption>")[2].partition("</table>")[0]
    assert re.findall(r"<bdi>(AUC|from|to)</bdi></th>", table) == ["AUC", "from", "to"]
    assert table.count("<td><bdi>0.900</bdi></td><td><bdi>0.860</bdi></td><td><bdi>0.940</bdi></td>") == 80
    head = page.partition("Types of tokens and their mean scores</caption>")[0].rpartition("<div")[2]
    assert 'class="sortable"' in head
    assert "tall" in head


def test_all_classes_are_measured_on_the_page_and_the_weakest_in_files() -> None:
    facts = report(classes=EIGHTY)
    scores = {name: {"precision": 0.5, "recall": 0.5, "f": k / 80, "n": 5} for k, name in enumerate(EIGHTY)}
    facts["metrics"] |= {"per_class": scores, "confusion": None}
    table = run_page(facts).partition("80 classes, weakest first</caption>")[2].partition("</table>")[0]
    assert table.count("<tr>") == 81
    assert len(run_tables(facts)["classes"].rows) == 20


def test_evidence_is_folded_and_the_first_part_of_an_audit_is_not() -> None:
    alone, of_run = audit_page(AuditFacts.from_json(audit())), run_page(report())
    parts = re.findall(r'<details class="card fold evidence" id="evidence-\w+"( open)?>', alone)
    assert parts[0] == " open"
    assert not any(parts[1:])
    assert not any(re.findall(r'<details class="card fold evidence" id="evidence-\w+"( open)?>', of_run))


@pytest.mark.parametrize(
    ("name", "tone"),
    [("faithful", "good"), ("partial", "fair"), ("irrelevant", "bad"), ("misleading", "bad"), ("inconclusive", "open")],
)
def test_a_verdict_is_a_coloured_badge_with_a_word(name: str, tone: str) -> None:
    facts = audit()
    facts["verdict"]["name"] = name
    page = audit_page(AuditFacts.from_json(facts))
    assert f'<span class="badge {tone}">{name}</span>' in page
    assert f'<span class="badge {tone}">{name.capitalize()}</span>' in page


def test_an_audit_begins_with_three_numbers() -> None:
    page = audit_page(AuditFacts.from_json(audit()))
    tiles = page.partition('<dl class="summary">')[2].partition("</dl>")[0]
    assert tiles.count("<dt>") == 4  # and the verdict
    assert "lead over random words</dt><dd>0.300" in tiles
    assert "effect of the weights</dt><dd>0.300" in tiles


@pytest.mark.parametrize(
    ("area", "by_type", "value", "badge"),
    [
        ((0.8, 0.7, 0.9), 0.9, "yes", "good"),
        ((0.8, 0.7, 0.9), 0.4, "mostly", "fair"),
        ((0.3, 0.2, 0.4), 0.4, "reversed", "bad"),
        ((0.5, 0.4, 0.6), 0.6, "no", "open"),
        ((0.5, None, None), 0.6, "unknown", "open"),
    ],
)
def test_the_badge_of_a_separation_follows_its_interval(
    area: tuple[float, float | None, float | None], by_type: float, value: str, badge: str
) -> None:
    one = ClassSeparation("a", by_type - 0.1, by_type - 0.2, by_type)
    tile = separation_tile(Separation(*area, 20, 20, (one,)), "word")
    assert (tile.value, tile.badge) == (value, badge)


def test_a_column_has_the_same_decimals() -> None:
    assert column([12.345, -0.5, 0.001, None], "+") == ["+12.35", "−0.50", "+0.00", "–"]
    assert column([0.2, 0.0004, 0.0], least=3) == ["0.200", "<0.001", "0.000"]
    assert column([0.004, 0.0012]) == ["0.0040", "0.0012"]
    assert column([]) == []


def test_a_hundred_classes_have_different_marks() -> None:
    marks = type_marks([*(str(k) for k in range(100)), "neutral"])
    assert len({(mark.colour, mark.path(0, 0, 5)) for mark in marks.values()}) == 101


def test_every_page_has_a_menu_of_its_sections() -> None:
    for page in (analysis_page(analysis()), run_page(report()), audit_page(AuditFacts.from_json(audit()))):
        menu = page.partition('<nav class="menu"')[2].partition("</nav>")[0]
        anchors = re.findall(r'href="#([\w-]+)"', menu)
        assert len(anchors) > 2
        for anchor in anchors:
            assert f'<h2 id="{anchor}"' in page
