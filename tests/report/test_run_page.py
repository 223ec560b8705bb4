"""The page of a run: its sections, what is left out, and escaping."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from analysis_case import without_interval
from run_case import ARABIC, CHINESE, HOSTILE, audit, report, run_figures, run_page, run_tables, shown

from regard.facts.audit import AuditFacts
from regard.facts.history import history as epochs
from regard.report.pages.run_figures import history_panels
from regard.report.text.audit_tables import audit_tables
from regard.report.text.exported import Table, as_csv, exported, latex
from regard.report.text.formulas import Formulas

WITHOUT: dict[str, Any] = {
    "metrics": None,
    "measured_on": None,
    "calibration": None,
    "history": [],
    "analysis": None,
    "audit": None,
    "no_audit": "This run was not audited yet; `regard audit runs/reviews --data FILE` asks.",
    "texts": [],
    "texts_in_all": 0,
}


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def headings(self) -> set[str]:
        return {str(attributes["id"]) for tag, attributes in self.found if tag == "h2"}


def test_every_part_has_its_section() -> None:
    page = run_page(report())
    assert Tags(page).headings() == {"measures", "calibration", "training", "words", "trust", "texts"}
    assert "0.850 (0.770 to 0.910)" in page
    assert "with reservations" in page
    assert "the model is overconfident" in page
    anchors = {attributes["href"] for tag, attributes in Tags(page).found if tag == "a"}
    assert {f"#{name}" for name in Tags(page).headings()} <= anchors


def test_a_separation_of_few_words_is_not_interpreted_on_the_page() -> None:
    facts = report()
    assert "Attention separates words of a class" in run_page(facts)
    page = run_page(facts | {"analysis": without_interval(facts["analysis"])})
    assert "Attention separates words of a class" not in page
    assert "<p>Too few words.</p>" in page


def test_missing_facts_give_no_section() -> None:
    page = run_page(report(**WITHOUT))
    assert Tags(page).headings() == {"trust"}
    assert "<code>regard audit runs/reviews --data FILE</code>" in page
    assert "<script" not in page


def test_nothing_is_loaded_from_the_network() -> None:
    page = run_page(report())
    assert not re.search(r'(?:src|href)="(?!data:|#)', page)
    assert "default-src 'none'; script-src 'sha256-" in page


def test_text_stays_text() -> None:
    bad = "</script><img src=x onerror=alert(1)>"
    facts = report(texts=[shown(HOSTILE + bad, bad, True)], classes=[bad, "positive"], run=bad, notes=[bad], data=bad)
    given = audit() | {"notes": [bad]}
    given["verdict"]["title"] = bad
    facts["audit"] = AuditFacts.from_json(given)
    facts["metrics"]["confusion"]["labels"] = [bad, "positive"]
    facts["metrics"]["per_class"] = {bad: {"precision": 1.0, "recall": 1.0, "f": 1.0, "n": 3}}
    tags = Tags(run_page(facts)).found
    assert not [tag for tag, _ in tags if tag == "img"]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert sum(tag == "script" for tag, _ in tags) == 2  # numbers, and the page's own


def test_other_scripts_keep_their_letters_and_their_direction() -> None:
    page = run_page(report())
    assert 'dir="auto"' in page
    for text in (ARABIC.split()[0], CHINESE.split("，")[0]):
        assert f">{text}</span>" in page


def test_words_against_the_answer_are_distinguished() -> None:
    page = run_page(report(texts=[shown("bad film")]))
    assert re.search(r'<span class="a\d+" title="−0\.\d+">bad</span>', page)
    assert re.search(r'<span class="w\d+" title="0\.\d+">film</span>', page)


def test_contributions_are_shown_in_one_view() -> None:
    text = shown("bad film", views=1)
    view = text["views"][0] | {"contribution_method": "leave_one_out", "target": "positive"}
    for token, contribution in zip(view["tokens"], (-1.0, 0.25), strict=True):
        token |= {"contribution": contribution, "read_as": "word"}
    page = run_page(report(texts=[text | {"views": [view]}]))
    assert '<span class="a20" title="against −1.00, weight 0.333">bad</span>' in page
    assert '<span class="visually-hidden"> (against 1.00)</span>' in page
    assert "<h4>leave-one-out; weights: attention</h4>" in page
    assert "Top words for positive" in page
    assert '<bdi>bad</bdi> <span class="number">−1.00</span>' in page


def test_the_largest_words_keep_their_sign() -> None:
    page = run_page(report(texts=[shown("bad film")]))
    assert '<bdi>bad</bdi> <span class="number">−0.333</span>' in page
    assert '<bdi>film</bdi> <span class="number">0.667</span>' in page


@pytest.mark.parametrize(
    ("piece", "explanation"),
    [
        ("##ful", " (## before a piece: it continues a word)"),
        ("Ġfilm", " (Ġ before a piece: it begins a word)"),
        ("▁film", " (▁ before a piece: it begins a word)"),
        ("film", ""),
    ],
)
def test_word_pieces_are_named_as_such(piece: str, explanation: str) -> None:
    facts = report()
    facts["analysis"]["model"]["encoder"] = "bert"
    facts["analysis"]["tokens"][0]["token"] = piece
    page = run_page(facts)
    assert '<h2 id="words">Polarity and attention of word pieces</h2>' in page
    assert f"named as in its vocabulary{explanation}; a word of several pieces has no mark." in page
    assert "Strongest word pieces of each class" in page
    assert "Search for a word piece" in page
    assert run_tables(facts)["words"].caption == "Strongest word pieces"


def test_a_run_that_reads_words_does_not_mention_pieces() -> None:
    assert "piece" not in run_page(report())


def test_a_page_of_numbers_has_no_classes_to_choose() -> None:
    bins = [{"from": 1.0, "to": 2.0, "n": 20, "said": 1.5, "found": 1.4, "low": 1.2, "high": 1.6}]
    excess = {"mean": 0.1, "low": -0.1, "high": 0.3}
    view = {**shown("nice")["views"][0], "prediction": 3.5, "probabilities": {}}
    facts = report(
        task="regression",
        classes=[],
        metrics={"n": 20, "rmse": 0.5, "rmse_interval": [0.4, 0.6]},
        calibration={"kind": "numbers", "bins": bins, "error": None, "excess": excess},
        analysis=None,
        audit=None,
        texts=[{"row": 1, "mistake": None, "label": 4.0, "views": [view]}],
    )
    page = run_page(facts)
    assert 'id="correctness"' not in page
    assert 'id="predicted-class"' not in page
    assert "off by −0.5" in page
    assert "0.500 (0.400 to 0.600)" in page


def test_every_figure_has_its_numbers() -> None:
    figures = run_figures(report())
    assert {"confusion", "calibration", "training", "norms", "words", "faithfulness"} <= set(figures)
    for figure in figures.values():
        assert figure.svg.startswith("<svg ")
        assert figure.rows
        assert {len(row) for row in figure.rows} == {len(figure.head)}
    assert figures["confusion"].rows == [["negative", 30, 10], ["positive", 5, 55]]
    assert figures["faithfulness"].rows[0] == ["comprehensiveness", "attention", 10.0, 0.3, 0.2, 0.4, 40]


def test_tables_as_latex_and_csv() -> None:
    tables = run_tables(report())
    assert set(tables) - set(audit_tables(AuditFacts.from_json(audit()))) == {
        "measures",
        "classes",
        "confusion_matrix",
        "words",
    }
    written = latex(tables["measures"])
    assert r"accuracy & 0.850 (0.770 to 0.910) \\" in written
    assert r"95 \% intervals" in written
    assert r"comprehensiveness $\uparrow$" in latex(tables["explainers"])
    rows = list(csv.reader(io.StringIO(as_csv(tables["classes"].head, tables["classes"].rows, Formulas()))))
    assert rows[1] == ["negative", "0.800", "0.800", "0.800 (0.700 to 0.900)", "50"]


@pytest.mark.parametrize(
    ("given", "written"), [("a_b & 5%", r"a\_b \& 5\%"), ("\\end{x}", r"\textbackslash{}end\{x\}"), ("a\nb~^", None)]
)
def test_latex_is_escaped(given: str, written: str | None) -> None:
    table_text = latex(Table(given, ("name",), [(given,)]))
    assert (written or r"a b\textasciitilde{}\textasciicircum{}") + r" \\" in table_text


@pytest.mark.parametrize("name", ["[x]", "*", "* [b]"])
def test_a_row_of_latex_may_begin_with_a_bracket_or_a_star(name: str) -> None:
    table_text = latex(Table("t", (name, "n"), [("a", "1"), (name, "2")]))
    assert not re.search(r"\\\\\s*[\[*]", table_text), "it would be an argument of the row's end before it"
    assert "{[}x{]} & 2" in table_text or "{*}" in table_text


def test_minus_signs_differ_between_text_and_csv() -> None:
    table = run_tables(report(metrics={"n": 2, "r2": -0.5, "r2_interval": [-0.7, -0.0]}))["measures"]
    assert ("R²", "−0.500 (−0.700 to 0.000)") in table.rows
    files = exported({}, {"measures": table, "words": Table("w", ("word",), [("− a−b",)])})
    assert "R²,-0.500 (-0.700 to 0.000)" in files["table_measures.csv"].decode()
    assert "R$^2$ & $-$0.500" in files["table_measures.tex"].decode()
    assert "− a−b" in files["table_words.csv"].decode(), "only numbers have one"


def test_the_rmse_of_the_mean_is_shown_with_the_rmse() -> None:
    history = [{"epoch": n, "loss": 1 / n, "dev": {"rmse": 1 / n, "rmse_of_mean": 2.0}} for n in (1, 2)]
    shown = {panel.title: [curve.name for curve in panel.curves] for panel in history_panels(epochs(history))}
    assert shown == {"loss": ["training"], "RMSE": ["dev", "dev, the mean"]}


def test_classes_that_are_never_predicted_are_named() -> None:
    facts = report()
    assert "Never predicted" not in run_page(facts)
    facts["metrics"]["confusion"] = {"labels": ["a", "<b>"], "counts": [[3, 0], [2, 0]]}
    assert "Never predicted: &#39;&lt;b&gt;&#39;. Training with --class-weight balanced" in run_page(facts)


def test_classes_without_texts_are_named() -> None:
    facts = report()
    assert "No text is labelled" not in run_page(facts)
    name = "<b>rare</b>"
    facts["metrics"]["per_class"][name] = {"precision": 0.0, "recall": 0.0, "f": 0.0, "n": 0}
    page = run_page(facts)
    assert "No text is labelled &#39;&lt;b&gt;rare&lt;/b&gt;&#39;; the scores do not apply to that class." in page


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.05, 0.15, "overconfident"),
        (-0.15, -0.05, "underconfident"),
        (-0.1, 0.1, ""),
        (-1e-5, -9e-6, ""),
    ],
)
def test_an_interval_that_is_shown_as_zero_has_no_verdict(low: float, high: float, verdict: str) -> None:
    excess = {"mean": (low + high) / 2, "low": low, "high": high}
    bins = [{"start": 0.9, "end": 1.0, "n": 80, "predicted": 1.0, "actual": 1.0, "low": 0.95, "high": 1.0}]
    page = run_page(report(calibration={"kind": "classes", "bins": bins, "error": 0.0, "excess": excess}))
    assert ("neither overconfidence nor underconfidence" in page) == (not verdict)
    for one in ("overconfident", "underconfident"):
        assert (f"{one}; 95 %" in page, f"the model is {one}" in page) == (one == verdict, one == verdict)
