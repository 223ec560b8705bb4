"""Figures as PDF: whole, searchable, the same every time, and typst as an extra that may be missing."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from analysis_case import analysis
from analysis_case import figures as analysis_figures
from paper_case import needs, page_boxes, pdf_text
from run_case import ARABIC, CHINESE, HOSTILE, report, run_figures

from command import Regard
from regard.extras import install_command
from regard.report import typesetting
from regard.report.plots.svg import document, text
from regard.report.text.exported import Figure, Table, caution, exported
from regard.report.typesetting import boxed_letter, pdf

CUNEIFORM = "\U00012000"  # in no common font


@pytest.fixture
def without_typst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)


def test_every_figure_is_one_page_of_its_size() -> None:
    svgs = [figure.svg for figure in run_figures(report()).values()] + list(analysis_figures(analysis()).values())
    assert len(svgs) > 20
    for svg in svgs:
        width, height = (float(re.findall(rf' {side}="(\d+)"', svg)[0]) for side in ("width", "height"))
        written = pdf(svg)
        assert written.startswith(b"%PDF-1.5")
        assert page_boxes(written) == [[0, 0, 0.75 * width, 0.75 * height]]
        assert b"/FontFile" in written, "letters are embedded"


def test_the_same_figure_gives_the_same_bytes() -> None:
    one, other = (exported(run_figures(report()), {}) for _ in range(2))
    assert one == other
    assert {name.rpartition(".")[2] for name in one} == {"svg", "pdf", "csv"}


def test_hostile_labels_stay_labels() -> None:
    for words in (HOSTILE, '#panic("x") #read("/etc/passwd") $x$ \\ "', "</text><image href='/etc/passwd'/>"):
        svg = document(words, 400, 100, [text(10, 50, words)])
        assert len(page_boxes(pdf(svg))) == 1


@needs("pdftotext")
def test_letters_can_be_searched(tmp_path: Path) -> None:
    svg = document("Heading #1", 400, 100, [text(10, 50, "Größe λ ≤ #eval(1 + 1)"), text(10, 70, CHINESE[:4])])
    (tmp_path / "x.pdf").write_bytes(pdf(svg))
    read = pdf_text(tmp_path / "x.pdf")
    assert "Heading #1" in read
    assert "Größe λ ≤ #eval(1 + 1)" in read
    if not boxed_letter(svg):
        assert CHINESE[:4] in read


def test_letters_without_a_font_are_reported() -> None:
    svg = document("", 99, 99, [text(1, 20, f"a {CUNEIFORM}")])
    assert boxed_letter(svg) == CUNEIFORM
    assert caution({"words": Figure(svg, (), [])}).startswith(f"words.pdf: no installed font contains {CUNEIFORM}, ")
    assert caution({"words": Figure(document("λ é", 9, 9, []), (), [])}) == ""
    assert boxed_letter(document("", 99, 99, [text(1, 20, ARABIC)])) in ("", *ARABIC)


@pytest.mark.usefixtures("without_typst")
def test_without_typst_only_the_pdfs_are_missing() -> None:
    figures = {"words": Figure(document("", 99, 99, []), ("x",), [[1]])}
    assert set(exported(figures, {})) == {"words.svg", "words.csv"}
    assert caution(figures) == f"no PDFs were written, because they need typst: {install_command('typst')}"
    assert caution({}) == ""


@pytest.mark.usefixtures("without_typst")
def test_without_typst_a_report_is_written_with_its_other_files(regard: Regard, run: Path, tmp_path: Path) -> None:
    done = regard("report", run, "--out", tmp_path / "page.html", "--figures", tmp_path / "figures")
    assert done.code == 0, done.err
    assert done.out.count(install_command("typst")) == 1
    assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".svg", ".csv", ".tex"}


def test_tables_need_no_typst(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typesetting, "typeset", None)
    assert set(exported({}, {"a": Table("c", ("x",), [("1",)])})) == {"table_a.tex", "table_a.csv"}
