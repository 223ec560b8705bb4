"""Figures as PDF: files that a reader can follow from their end, with every shape and letter of the SVG."""

from __future__ import annotations

import re
import zlib

import pytest
from analysis_case import analysis
from analysis_case import figures as analysis_figures
from run_case import ARABIC, report, run_figures

from regard.report.plots.letters import stretches
from regard.report.plots.pdf import boxed, pdf
from regard.report.plots.svg import document, rotated, text
from regard.report.text.exported import Figure, caution, exported


def objects(written: bytes) -> list[bytes]:
    """The objects found through the table at the end."""
    start = int(written.rpartition(b"startxref\n")[2].split()[0])
    assert written[start:].startswith(b"xref\n0 ")
    places = [int(line[:10]) for line in re.findall(rb"\d{10} 00000 n ", written[start:])]
    objects_read = []
    for number, place in enumerate(places, 1):
        begun = b"%d 0 obj\n" % number
        assert written[place:].startswith(begun)
        objects_read.append(written[place + len(begun) :].partition(b"\nendobj\n")[0])
    return objects_read


def drawn(written: bytes) -> str:
    stream = objects(written)[3].partition(b"stream\n")[2].removesuffix(b"\nendstream")
    return zlib.decompress(stream).decode("ascii")


def test_every_figure_can_be_drawn() -> None:
    svgs = [figure.svg for figure in run_figures(report()).values()] + list(analysis_figures(analysis()).values())
    assert len(svgs) > 20
    for svg in svgs:
        page = drawn(pdf(svg))
        assert page.count("q ") == page.count("Q")
        assert "e-" not in page, "a PDF has no exponents"
        assert page.count(" Tj") >= len(re.findall("<text [^>]*>[^<]", svg))


def test_the_page_is_as_large_as_the_figure_and_names_what_it_draws_with() -> None:
    shape = '<rect x="1" y="2" width="3" height="4" fill="#ff0000" fill-opacity="0.5"/>'
    written = pdf(document("Accuracy", 400, 200, [shape]))
    objects_read = objects(written)
    assert b"/MediaBox [0 0 300 150]" in objects_read[2]
    assert b"/F0 6 0 R" in objects_read[2]
    assert b"/G0 << /ca 0.5 /CA 1 >>" in objects_read[2]
    assert b"/BaseFont /Helvetica-Bold" in objects_read[5]
    assert objects_read[4] == b"<< /Title <feff" + "Accuracy".encode("utf-16-be").hex().encode() + b"> >>"
    assert "q 1 0 0 rg /G0 gs 1 2 3 4 re f Q" in drawn(written)


def test_letters_are_set_from_their_anchor() -> None:
    page = drawn(pdf(document("", 100, 100, [text(50, 40, "ab", anchor="end"), rotated(10, 20, "ab")])))
    assert "q 1 0 0 1 50 40 cm" in page
    assert "1 0 0 -1 -13.344 0 Tm <6162> Tj" in page  # 12 × (0.556 + 0.556) to the left
    assert "q 0 -1 1 0 10 20 cm" in page
    assert "1 0 0 -1 -6.672 0 Tm <6162> Tj" in page


def test_circles_are_curves_and_dashes_stay() -> None:
    ring = '<circle cx="5" cy="5" r="2" fill="none" stroke="#000000" stroke-width="1.5"/>'
    shapes = [ring, '<path d="M1 2H5V6h-2v1z" stroke="#000000" stroke-dasharray="7 3"/>']
    page = drawn(pdf(document("", 9, 9, shapes)))
    assert "3 5 m 3 6.105 3.895 7 5 7 c 6.105 7 7 6.105 7 5 c" in page
    assert "[7 3] 0 d 1 2 m 5 2 l 5 6 l 3 6 l 3 7 l h S" in page


def test_each_script_gets_the_font_that_has_it() -> None:
    assert [one.font for one in stretches("é λ− 很 Ж 한 ف", bold=False)] == [
        *("Helvetica", "Symbol", "Helvetica", "GB1", "Helvetica", "GB1", "Helvetica", "Korea1", "Helvetica", ""),
    ]
    objects_read = objects(pdf(document("", 99, 99, [text(1, 1, "很")])))
    assert b"/Encoding /UniGB-UTF16-H /DescendantFonts [7 0 R]" in objects_read[5]
    assert b"/FontDescriptor 8 0 R" in objects_read[6]
    assert f"<{'很'.encode('utf-16-be').hex()}>" in drawn(pdf(document("", 99, 99, [text(1, 1, "很")])))


def test_letters_without_a_font_are_boxes_and_reported() -> None:
    svg = document("", 99, 99, [text(1, 1, ARABIC)])
    assert drawn(pdf(svg)).count(" re") - 1 == len(ARABIC.replace(" ", ""))  # and the paper
    assert set(boxed(svg)) == set(ARABIC) - {" "}
    assert caution({"words": Figure(svg, (), [])}).startswith("words.pdf: the standard PDF fonts lack ")
    assert caution({"words": Figure(document("很 λ é", 9, 9, []), (), [])}) == ""


def test_the_same_figure_gives_the_same_bytes() -> None:
    one, other = (exported(run_figures(report()), {}) for _ in range(2))
    assert one == other
    assert {name.rpartition(".")[2] for name in one} == {"svg", "pdf", "csv"}


@pytest.mark.parametrize("shape", ["<ellipse/>", '<path d="M0 0C1 1 2 2 3 3" stroke="#000000"/>'])
def test_an_unknown_shape_is_an_error(shape: str) -> None:
    with pytest.raises(ValueError, match="that our plots draw"):
        pdf(document("", 9, 9, [shape]))
